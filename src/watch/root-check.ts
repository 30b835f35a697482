import { opendir, readFile, realpath, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { linkOfOthers, whyRefusedLink } from '../config/links.ts';
import { errnoOf } from '../errno.ts';
import { looksTheSame } from '../pipeline/file/file-version.ts';
import type { ContentVersion } from '../pipeline/file/file-version.ts';
import { isRefusal, operatorCommand, whyClosed } from '../read-permission.ts';
import { shellWord } from '../shell-word.ts';
import { isBoundAt, remoteKind } from './kernel.ts';
import { lookAt } from './path-entry.ts';

export type RootVerdict =
  | { readonly isSound: true }
  | {
      readonly isSound: false;
      readonly why: string;
      readonly isAnother?: true;
      /** The folder is frozen because the ledger is older. */
      readonly isBehind?: true;
      /** The ledger is older, but the folder is frozen for another reason. */
      readonly isOlder?: true;
    };

interface RootCheckOptions {
  readonly path: string;
  /** Returns the fingerprint of our mark in the directory at the path; null if it has none. */
  readonly mark: () => Promise<string | null>;
}

/** Path → version of files seen before. */
export interface KnownVersions {
  readonly size: number;
  entries(): IteratorObject<readonly [path: string, version: ContentVersion]>;
}

/**
 * Recognises the folder, and refuses a bare mount point or another file system at its path. If the wrong directory were
 * trusted, its files would be uploaded, and every known file would be reported gone and uploaded again once it is back.
 */
export class RootCheck {
  readonly #options: RootCheckOptions;
  #identity: RootIdentity | null = null;
  #devices: ReadonlySet<string> = new Set();
  #isTrusted = false;

  constructor(options: RootCheckOptions) {
    this.#options = options;
  }

  /** The trusted directory; null until one was found. */
  get identity(): RootIdentity | null {
    return this.#identity;
  }

  /** @param devices of the known files: the only clue if the ledger has no record of the directory */
  remember(identity: RootIdentity | null, devices: ReadonlySet<string>): void {
    this.#identity = identity;
    this.#devices = devices;
  }

  /** Accepts the directory at the path on the next check, after an operator confirmed that it is the folder. */
  trustNext(): void {
    this.#isTrusted = true;
  }

  async look(known: KnownVersions): Promise<RootVerdict> {
    const { path } = this.#options;
    try {
      const why = await whyUnusable(path);
      if (why !== null) return { isSound: false, why };
      return (await this.#isUnchanged()) ? { isSound: true } : await this.#judge(known);
    } catch (error) {
      const code = errnoOf(error);
      return {
        isSound: false,
        why: code === 'ENOENT' ? 'it does not exist' : await whyRefused(path, 'it cannot be reached', code),
      };
    }
  }

  /** Updates the fingerprint after the directory was marked or its mark replaced. */
  async noteMark(): Promise<void> {
    if (this.#identity !== null) this.#identity = { ...this.#identity, mark: await this.#options.mark() };
  }

  async #isUnchanged(): Promise<boolean> {
    const before = this.#identity;
    if (before === null || this.#isTrusted) return false;
    const { dev, ino, birthtimeNs } = await stat(this.#options.path, { bigint: true });
    const now = { ...before, device: String(dev), inode: String(ino), born: String(birthtimeNs) };
    return now.device === before.device && isSameDirectory(before, now);
  }

  async #judge(known: KnownVersions): Promise<RootVerdict> {
    const { path, mark } = this.#options;
    const before = this.#identity;
    const found = await identify(path, await mark());
    const proofs = { hasKnownFile: () => this.#hasOneOf(known), knowsNothing: known.size === 0 };
    const why = before === null ? await this.#whyUnfamiliar(found, proofs) : await whyAnother(before, found, proofs);
    if (why !== null && !this.#isTrusted)
      return {
        isSound: false,
        why: `${why}; if this is the right directory now, ${resumeAdvice(path)}`,
        isAnother: true,
      };
    const isKept = before !== null && why === null && isSameDirectory({ ...before, mark: null }, found);
    this.#identity = { ...found, since: isKept ? before.since : Date.now() };
    this.#isTrusted = false;
    return { isSound: true };
  }

  /** Judges a directory that the ledger has no record of, as after a rebuild from receipts. */
  async #whyUnfamiliar(found: FoundRoot, { knowsNothing, hasKnownFile }: RootProofs): Promise<string | null> {
    const isFamiliar = knowsNothing || this.#devices.has(found.device) || found.mark !== null || (await hasKnownFile());
    return isFamiliar
      ? null
      : 'a different file system is at its path, with none of the known files in it; perhaps the right one is not mounted';
  }

  async #hasOneOf(known: KnownVersions): Promise<boolean> {
    for (const [path, version] of known.entries().take(MOST_FILES_ASKED)) {
      const entry = await lookAt(join(this.#options.path, path));
      if (entry.is === 'file' && looksTheSame(entry.version, version)) return true;
    }
    return false;
  }
}

/** Maximum number of known files to look for when recognising the folder. */
export const MOST_FILES_ASKED = 10_000;

/** Returns advice with the command for confirming the folder's current state. */
export function resumeAdvice(folder: string): string {
  return `run \`${operatorCommand(`dropcast resume ${shellWord(folder)}`)}\``;
}

/** Returns why the path cannot be read, or null. @throws the system error */
async function whyUnusable(path: string): Promise<string | null> {
  if (!(await stat(path)).isDirectory()) return 'it is not a directory';
  const link = await linkOfOthers(path);
  if (link !== null) return whyRefusedLink(link);
  const refusal = await refusalToRead(path);
  return refusal === null ? null : whyRefused(path, 'it cannot be read', refusal);
}

/**
 * Returns the error code if access is refused, otherwise null, because scans report all other errors. Opening `.` needs
 * the rights to list and to search the directory. `access(2)` would ignore the capabilities of a non-root service.
 */
async function refusalToRead(path: string): Promise<string | null> {
  try {
    await (await opendir(`${path}/.`)).close();
    return null;
  } catch (error) {
    const code = errnoOf(error);
    return isRefusal(code) ? code : null;
  }
}

/** Describes the system's refusal, with the command that grants access if there is one. */
export async function whyRefused(path: string, what: string, code: string): Promise<string> {
  return isRefusal(code) ? whyClosed(path, 'directory', code) : `${what} (${code})`;
}

/** Traits that distinguish a directory from others at the same path. Large numbers are decimal strings. */
export interface FoundRoot {
  /** Device number. It may change on reboot, and the kernel reuses the numbers of unmounted shares. */
  readonly device: string;
  readonly inode: string;
  /** Birth time in nanoseconds; `0` if the file system records none. */
  readonly born: string;
  /** `f_type` of statfs(2). */
  readonly kind: string;
  /** Root of the directory's file system: the highest ancestor on the same device. */
  readonly mount: string;
  /** Whether a whole file system is mounted at the path. Bind mounts do not count. */
  readonly isMountPoint: boolean;
  /** Whether the path is a bind mount; undefined in older records. */
  readonly isBound?: boolean;
  /** Fingerprint of our mark; null if the directory has none. */
  readonly mark: string | null;
}

/** The directory recognised as the folder. */
export interface RootIdentity extends FoundRoot {
  /** Time when dropcast accepted the directory as the folder, in epoch milliseconds. */
  readonly since: number;
}

export interface RootProofs {
  /** Whether the directory contains a known file. Reads the disk. */
  hasKnownFile(): Promise<boolean>;
  readonly knowsNothing: boolean;
}

/** Reads the traits of the directory at a path. @throws the error of stat(2) */
async function identify(path: string, mark: string | null): Promise<FoundRoot> {
  const real = await realpath(path);
  const [{ dev, ino, birthtimeNs }, { type }] = await Promise.all([
    stat(real, { bigint: true }),
    statfs(real, { bigint: true }),
  ]);
  const mount = await mountOf(real, dev);
  const isBound = isBoundAt(real, await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''));
  return {
    device: String(dev),
    inode: String(ino),
    born: String(birthtimeNs),
    kind: String(type),
    mount,
    isMountPoint: mount === real && !isBound,
    isBound,
    mark,
  };
}

async function mountOf(path: string, device: bigint): Promise<string> {
  const above = dirname(path);
  if (above === path) return path;
  const { dev } = await stat(above, { bigint: true });
  return dev === device ? mountOf(above, device) : path;
}

/**
 * Returns why the directory at the path is not the folder; null if it is. Our unchanged mark or one known file proves
 * that it is. Without either, a directory with the same inode and birth time counts as the same, even if its device
 * number changed (docs/decisions/0045-which-directory-is-the-folder.md).
 */
export async function whyAnother(before: RootIdentity, found: FoundRoot, proofs: RootProofs): Promise<string | null> {
  const isIt =
    isMarkedAlike(before, found) ||
    isSameDirectory(before, found) ||
    (await proofs.hasKnownFile()) ||
    isMadeAgain(before, found) ||
    (proofs.knowsNothing && (isMountedOver(before, found) || isBoundOver(before, found)));
  return isIt ? null : inWords(before, found);
}

function isMarkedAlike(before: FoundRoot, found: FoundRoot): boolean {
  return before.mark !== null && before.mark === found.mark;
}

/**
 * Compares inode and birth time. Without a birth time the inode proves little: the root of every ext4 file system is
 * inode 2, and device numbers recur.
 */
function isSameDirectory(before: FoundRoot, found: Omit<FoundRoot, 'mount' | 'mark'>): boolean {
  if (before.inode !== found.inode || before.born !== found.born || before.kind !== found.kind) return false;
  if (before.born !== '0' || remoteKind(BigInt(before.kind)) !== null) return true;
  return before.device === found.device && (before.mark === null || !found.isMountPoint);
}

/** Whether the folder was removed and created again. A directory older than our folder was hidden under a mount. */
function isMadeAgain(before: RootIdentity, found: FoundRoot): boolean {
  if (before.device !== found.device || before.mount !== found.mount || found.isMountPoint) return false;
  return found.born === '0' || BigInt(found.born) > BigInt(before.since - TICK_MS) * 1_000_000n;
}

/**
 * Tolerance when comparing times. File systems take their times from the kernel's last tick, and some round further.
 */
const TICK_MS = 100;

/** Whether a file system is now mounted over the path or one of its ancestors. */
function isMountedOver(before: FoundRoot, found: FoundRoot): boolean {
  return found.mount !== before.mount && isBelow(found.mount, before.mount);
}

/** Whether a directory is now bind-mounted over the path. Replacing another bind mount does not count. */
function isBoundOver(before: RootIdentity, found: FoundRoot): boolean {
  return before.isBound === false && found.isBound === true;
}

function isBelow(path: string, above: string): boolean {
  return path.startsWith(above.endsWith('/') ? above : `${above}/`);
}

function inWords(before: FoundRoot, found: FoundRoot): string {
  if (before.mount !== found.mount && isBelow(before.mount, found.mount))
    return `nothing is mounted at ${before.mount} now`;
  const what = before.device === found.device && !found.isMountPoint ? 'another directory' : 'another file system';
  return `${what} is at its path, with none of the known files in it; perhaps the right one is not mounted`;
}
