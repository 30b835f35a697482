import { readdirSync, readFileSync } from 'node:fs';

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
export interface Limits {
  readonly watches: number | null;
  readonly instances: number | null;
  /** Whether this process has reached its limit on open files. */
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
    return (error as NodeJS.ErrnoException).code === 'EMFILE';
  }
}
