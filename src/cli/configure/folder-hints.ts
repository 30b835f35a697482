import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath, statfs } from 'node:fs/promises';
import type { Config, FolderConfig } from '../../config/config.ts';
import { unlessHung } from '../../unless-hung.ts';
import { mountPointOf, remoteKind, readLimits, tooFewWatches } from '../../watch/kernel.ts';
import { shellWord } from '../../shell-word.ts';

export interface FolderHint {
  /** The folder's key in the configuration. */
  readonly key: string;
  readonly message: string;
}

/** Properties of the machine that determine how folders can be watched. */
export interface WatchingMachine {
  /** Contents of fstab(5) and /proc/self/mountinfo. */
  readonly fstab: string;
  readonly mountinfo: string;
  /** Limit on inotify watches; null if it cannot be read. */
  readonly watches: number | null;
  /** The type of network share that a directory is on; null for a local disk. */
  shareOf(path: string): Promise<string | null>;
}

export async function readWatchingMachine(): Promise<WatchingMachine> {
  const text = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
  const [fstab, mountinfo] = await Promise.all([text('/etc/fstab'), text('/proc/self/mountinfo')]);
  const shareOf = async (path: string): Promise<string | null> =>
    remoteKind((await statfs(path, { bigint: true })).type);
  return { fstab, mountinfo, watches: readLimits().watches, shareOf };
}

/**
 * Finds unmounted shares, folders whose events cover only this machine's changes, and an inotify limit that is too low.
 */
export async function folderHints(
  { folders }: Pick<Config, 'folders'>,
  machine: WatchingMachine,
): Promise<readonly FolderHint[]> {
  const looks = folders.map((folder) => unlessHung(lookAt(folder, machine).catch(() => null)));
  const found = (await Promise.all(looks)).flatMap((each) => each ?? []);
  const directories = found.reduce((sum, each) => sum + each.directories, 0);
  const first = found.find((each) => each.directories > 0);
  const { watches } = machine;
  const limit =
    first === undefined || watches === null || directories <= watches
      ? []
      : [{ key: first.key, message: tooFewWatches(directories, watches) }];
  return [...found.flatMap(({ key, messages }) => messages.map((message) => ({ key, message }))), ...limit];
}

interface Look {
  readonly key: string;
  readonly messages: readonly string[];
  /** Number of directories to watch. Each needs its own inotify watch. */
  readonly directories: number;
}

async function lookAt(folder: FolderConfig, machine: WatchingMachine): Promise<Look> {
  const key = `${folder.key}.path`;
  const path = await realpath(folder.path).catch(() => folder.path);
  const missing = whatIsNotMounted(path, machine);
  if (missing !== null) return { key, messages: [notMounted(folder.path, missing)], directories: 0 };
  const share = await machine.shareOf(path);
  const messages = share === null || folder.watch === 'polling' ? [] : [onShare(folder, share)];
  const isScanned = folder.watch === 'polling' || (folder.watch === 'auto' && share !== null);
  const most = (machine.watches ?? 0) + 1;
  return { key, messages, directories: isScanned || machine.watches === null ? 0 : await countDirectories(path, most) };
}

/** The mount point in fstab(5) that the path belongs to, if it is not mounted; otherwise null. */
function whatIsNotMounted(path: string, { fstab, mountinfo }: WatchingMachine): string | null {
  // Both tables encode a space as \040.
  const points = fstab.split('\n').flatMap((line) => {
    const [device = '#', point = ''] = line.trim().split(/\s+/);
    return device.startsWith('#') ? [] : [`0 0 0:0 / ${point}`];
  });
  const wanted = mountPointOf(path, points.join('\n'));
  const mounted = mountPointOf(path, mountinfo) ?? '/';
  return wanted === null || mounted === wanted || mounted.startsWith(`${wanted}/`) ? null : wanted;
}

function notMounted(path: string, point: string): string {
  return `${path} is on ${point}, which is in /etc/fstab but not mounted: \`sudo mount ${shellWord(point)}\`, otherwise dropcast watches the directory under the mount point`;
}

function onShare({ path, watch }: FolderConfig, share: string): string {
  const events = `${path} is on ${share}, where events report only changes made on this machine`;
  if (watch === 'native')
    return `${events}: files from other machines are found only at each rescan; set watch: auto to scan it every 5 s`;
  return `${events}: dropcast scans it every 5 s, and a file has to stay unchanged for 10 s longer`;
}

async function countDirectories(root: string, most: number): Promise<number> {
  const pending = [root];
  let count = 0;
  for (let path = pending.pop(); path !== undefined && count < most; path = pending.pop()) {
    count += 1;
    const entries: readonly Dirent[] = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) if (entry.isDirectory()) pending.push(`${path}/${entry.name}`);
  }
  return count;
}
