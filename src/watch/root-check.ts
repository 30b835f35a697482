import { join } from 'node:path';
import { opendir, stat } from 'node:fs/promises';
import { linkOfOthers, whyRefusedLink } from '../config/links.ts';
import { looksTheSame } from '../pipeline/file/file-version.ts';
import type { ContentVersion } from '../pipeline/file/file-version.ts';
import { isRefusal, whyClosed } from '../read-permission.ts';
import { operatorCommand } from '../service-user.ts';
import { shellWord } from '../shell-word.ts';
import { errnoOf } from '../errno.ts';
import { lookAt } from './path-entry.ts';
import { identify, isSameDirectory, whyAnother } from './root-identity.ts';
import type { FoundRoot, RootIdentity, RootProofs } from './root-identity.ts';

export type RootVerdict =
  | { readonly isSound: true }
  | {
      readonly isSound: false;
      readonly why: string;
      readonly isAnother?: true;
      /** It is frozen because the ledger is older. */
      readonly isBehind?: true;
      /** It is frozen for another reason, and the ledger is older as well. */
      readonly isOlder?: true;
    };

export interface RootCheckOptions {
  readonly path: string;
  /** Fingerprint of our mark in the directory that is at the path now; null without one. */
  readonly mark: () => Promise<string | null>;
}

/** Path → version of the files seen before. */
export interface KnownVersions {
  readonly size: number;
  entries(): IteratorObject<readonly [path: string, version: ContentVersion]>;
}

/**
 * Tells the folder from what is left of it when its file system is not mounted, and from another one mounted in its place. Trusting
 * that directory would upload what lies in it, report every file gone, and upload all of them again when they come back.
 */
export class RootCheck {
  readonly #options: RootCheckOptions;
  #identity: RootIdentity | null = null;
  #devices: ReadonlySet<string> = new Set();
  #isTrusted = false;

  constructor(options: RootCheckOptions) {
    this.#options = options;
  }

  /** The directory that is trusted; null while none was found yet. */
  get identity(): RootIdentity | null {
    return this.#identity;
  }

  /** @param devices of the known files: all that is known of the directory where the ledger has no record of it */
  remember(identity: RootIdentity | null, devices: ReadonlySet<string>): void {
    this.#identity = identity;
    this.#devices = devices;
  }

  /** A person says that whatever is at the path at the next look is the folder. */
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

  /** It was marked, or its mark was replaced. */
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

  /** Nothing is remembered of the directory itself, as in a ledger that was rebuilt from its receipts. */
  async #whyUnfamiliar(found: FoundRoot, { knowsNothing, hasKnownFile }: RootProofs): Promise<string | null> {
    const isFamiliar = knowsNothing || this.#devices.has(found.device) || found.mark !== null || (await hasKnownFile());
    return isFamiliar
      ? null
      : 'another file system than before is at its path, with none of the known files in it; perhaps the right one is not mounted';
  }

  async #hasOneOf(known: KnownVersions): Promise<boolean> {
    for (const [path, version] of known.entries().take(MOST_FILES_ASKED)) {
      const entry = await lookAt(join(this.#options.path, path));
      if (entry.is === 'file' && looksTheSame(entry.version, version)) return true;
    }
    return false;
  }
}

const MOST_FILES_ASKED = 10_000;

/** The command by which a person says that all is as it should be. */
export function resumeAdvice(folder: string): string {
  return `run \`${operatorCommand(`dropcast resume ${shellWord(folder)}`)}\``;
}

/** Why nothing can be read at the path, whatever it is; or null. @throws what the system says */
async function whyUnusable(path: string): Promise<string | null> {
  if (!(await stat(path)).isDirectory()) return 'it is not a directory';
  const link = await linkOfOthers(path);
  if (link !== null) return whyRefusedLink(link);
  const refusal = await refusalToRead(path);
  return refusal === null ? null : whyRefused(path, 'it cannot be read', refusal);
}

/**
 * The code of the refusal, or null: all other errors show in the scan. Opening `.` needs the right to list the directory and
 * the one to search it. Not `access(2)`: it leaves out the capabilities of a service that is not root.
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

/** The refusal of the system, with the command that allows the access if there is one. */
export async function whyRefused(path: string, what: string, code: string): Promise<string> {
  return isRefusal(code) ? whyClosed(path, 'directory', code) : `${what} (${code})`;
}
