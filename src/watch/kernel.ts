import { readdirSync, readFileSync } from 'node:fs';
import { errnoOf } from '../errno.ts';

/**
 * Returns the mount point that a path is on.
 *
 * @param path absolute, with symbolic links resolved
 * @param mountinfo text of /proc/self/mountinfo (proc(5))
 * @returns null if the path is on the root file system
 */
export function mountPointOf(path: string, mountinfo: string): string | null {
  const points = mountinfo.split('\n').flatMap((line) => unescaped(line.split(' ')[4] ?? ''));
  const [longest = '/'] = points
    .filter((point) => point === path || path.startsWith(point.endsWith('/') ? point : `${point}/`))
    .toSorted((one, other) => other.length - one.length);
  return longest === '/' ? null : longest;
}

/**
 * Whether the path is a bind mount, as used by systemd and containers, rather than the mount of a whole file system.
 *
 * @param path absolute, with symbolic links resolved
 * @param mountinfo text of /proc/self/mountinfo (proc(5))
 */
export function isBoundAt(path: string, mountinfo: string): boolean {
  const mounts = mountinfo.split('\n').map((line) => line.split(' '));
  // Later mounts hide earlier ones at the same path.
  const [, , , top] = mounts.findLast(([, , , , point = '']) => unescaped(point) === path) ?? [];
  return top !== undefined && top !== '/';
}

/** Decodes a mountinfo field. Spaces, line breaks and backslashes are escaped as in `\040`; UTF-8 bytes are not. */
function unescaped(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** statfs(2) magic numbers of file systems that others may change: shares, and FUSE, which may be anything. */
const shareNames: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x786f4256, 'a VirtualBox share'],
  [0xbacbacbc, 'a VMware share'],
]);

/**
 * Returns the kind of share that a file system is; null for a local disk. On a share, events report only changes made
 * on this machine, and the kernel caches file sizes for some seconds.
 *
 * @param magic `f_type` of statfs(2)
 */
export function remoteKind(magic: bigint): string | null {
  // `f_type` is signed on some architectures.
  return shareNames.get(Number(BigInt.asUintN(32, magic))) ?? null;
}

/** Number of directories to watch per folder. All folders share one limit. */
export class WatchedDirectories {
  readonly #byFolder = new Map<string, number>();

  get total(): number {
    return [...this.#byFolder.values()].reduce((sum, count) => sum + count, 0);
  }

  set(folder: string, count: number): void {
    this.#byFolder.set(folder, count);
  }

  delete(folder: string): void {
    this.#byFolder.delete(folder);
  }
}

/** Kernel limits; null if unreadable, as in a service with `ProcSubset=pid`. */
interface Limits {
  readonly watches: number | null;
  readonly instances: number | null;
  readonly isOutOfFiles: boolean;
}

/** Never throws. */
export function readLimits(): Limits {
  return {
    watches: readNumber('max_user_watches'),
    instances: readNumber('max_user_instances'),
    isOutOfFiles: isOutOfFiles(),
  };
}

/** Returns advice on raising an exhausted limit. The suggested value leaves room for the user's other programs. */
export function watchLimitAdvice(code: 'ENOSPC' | 'EMFILE', directories: number, limits: Limits): string {
  if (code === 'EMFILE' && limits.isOutOfFiles)
    return `the limit of open files of the process is reached (${code}): raise it with \`ulimit -n 65536\` before the start, or LimitNOFILE=65536 in the unit`;
  if (code === 'EMFILE')
    return `the limit of inotify instances or open files is reached (${code}): ${sysctl('max_user_instances', powerOfTwo(2 * (limits.instances ?? 512)))}`;
  const count = directories === 1 ? '1 directory has' : `${directories.toLocaleString('en-US')} directories have`;
  const value = powerOfTwo(directories + (limits.watches ?? UNKNOWN_WATCHES));
  return `the limit of inotify watches is reached (${code}), and ${count} to be watched: ${sysctl('max_user_watches', value)}`;
}

/** Returns advice before a start. The count of directories may have stopped just above the limit. */
export function tooFewWatches(directories: number, limit: number): string {
  const value = powerOfTwo(directories + limit);
  return `the folders have more directories than the ${limit.toLocaleString('en-US')} inotify watches that a user may have: ${sysctl('max_user_watches', value)}`;
}

/** Assumed limit. Kernels since 5.11 allow up to a million watches, depending on memory; older ones 8,192. */
const UNKNOWN_WATCHES = 524_289;

function sysctl(name: string, value: number): string {
  return `raise it with \`sudo sysctl fs.inotify.${name}=${value}\`, permanently in /etc/sysctl.d`;
}

function powerOfTwo(least: number): number {
  return 2 ** Math.ceil(Math.log2(least));
}

function readNumber(name: string): number | null {
  try {
    return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, 'utf8'));
  } catch {
    return null;
  }
}

function isOutOfFiles(): boolean {
  try {
    const [, limit = 'unlimited'] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit !== 'unlimited' && readdirSync('/proc/self/fd').length >= Number(limit) - 1;
  } catch (error) {
    return errnoOf(error) === 'EMFILE';
  }
}
