import { readFile, realpath, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isBoundAt } from './mount-points.ts';
import { remoteKind } from './remote-kinds.ts';

/** A directory, as far as it can be told from whatever else may lie at its path. Large numbers are decimal strings. */
export interface FoundRoot {
  /** Number of its device. A reboot may change it, and the kernel gives the number of an unmounted share to the next one. */
  readonly device: string;
  readonly inode: string;
  /** Birth time, nanoseconds; `0` where the file system has none. */
  readonly born: string;
  /** `f_type` of statfs(2). */
  readonly kind: string;
  /** Where its file system begins: the highest directory on the way to it that is on the same device. */
  readonly mount: string;
  /** Whether a whole file system is mounted there. A directory that is bound to its path is as much a directory as any. */
  readonly isMountPoint: boolean;
  /** Whether a directory is bound to the path; undefined where nobody noted it. */
  readonly isBound?: boolean;
  /** Fingerprint of our mark in it; null without one. */
  readonly mark: string | null;
}

/** The directory that is the folder. */
export interface RootIdentity extends FoundRoot {
  /** When dropcast took it for the folder, epoch milliseconds. */
  readonly since: number;
}

export interface RootProofs {
  /** Whether one of the known files is in it. Costs looks at the disk. */
  hasKnownFile(): Promise<boolean>;
  readonly knowsNothing: boolean;
}

/** @throws what stat(2) says */
export async function identify(path: string, mark: string | null): Promise<FoundRoot> {
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
 * Why the directory at the path is not the folder of before; null when it is. The same mark of ours decides, and so does one known
 * file. Without them, a directory with the same inode and birth time is the same, whatever number its device has today
 * (docs/decisions/0045-which-directory-is-the-folder.md).
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

/** Without a birth time the inode says little: the top directory of every ext4 disk is 2, and two disks may have had one device number. */
export function isSameDirectory(before: FoundRoot, found: Omit<FoundRoot, 'mount' | 'mark'>): boolean {
  if (before.inode !== found.inode || before.born !== found.born || before.kind !== found.kind) return false;
  if (before.born !== '0' || remoteKind(BigInt(before.kind)) !== null) return true;
  return before.device === found.device && (before.mark === null || !found.isMountPoint);
}

/** Somebody removed the folder and made it again. A directory that is older than our folder was hidden under a mount. */
function isMadeAgain(before: RootIdentity, found: FoundRoot): boolean {
  if (before.device !== found.device || before.mount !== found.mount || found.isMountPoint) return false;
  return found.born === '0' || BigInt(found.born) > BigInt(before.since - TICK_MS) * 1_000_000n;
}

/** Times of a file system are those of the kernel's last tick, and some round them further. */
const TICK_MS = 100;

/** There was nothing yet, and now a file system is mounted there, or on the way to it. */
function isMountedOver(before: FoundRoot, found: FoundRoot): boolean {
  return found.mount !== before.mount && isBelow(found.mount, before.mount);
}

/** The same with a directory of the same disk. One that takes the place of another bound one is another. */
function isBoundOver(before: RootIdentity, found: FoundRoot): boolean {
  return before.isBound === false && found.isBound === true;
}

function isBelow(path: string, above: string): boolean {
  return path.startsWith(above.endsWith('/') ? above : `${above}/`);
}

function inWords(before: FoundRoot, found: FoundRoot): string {
  if (before.mount !== found.mount && isBelow(before.mount, found.mount))
    return `nothing is mounted at ${before.mount} any more`;
  const what = before.device === found.device && !found.isMountPoint ? 'another directory' : 'another file system';
  return `${what} is at its path, with none of the known files in it; perhaps the right one is not mounted`;
}
