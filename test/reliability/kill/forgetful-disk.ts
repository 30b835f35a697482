import { link, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import { join } from 'node:path';

/** A disk that forgets what was not synced: `forgetful.c` keeps its shadow while a process runs. */
export interface ForgetfulDisk {
  /** They forget names. */
  readonly roots: readonly string[];
  /** Those that forget bytes too. In a watched folder they are of people, who synced them. */
  readonly written: readonly string[];
  /** On the same file system. */
  readonly shadow: string;
}

/** The environment of a process on that disk. @param library `forgetful.c`, compiled */
export function forgetfulEnv({ roots, shadow }: ForgetfulDisk): Readonly<Record<string, string>> {
  return { FORGET_ROOTS: roots.join(':'), FORGET_SHADOW: shadow };
}

/** Everything there is durable. */
export async function syncAll({ roots, shadow }: ForgetfulDisk): Promise<void> {
  await rm(shadow, { recursive: true, force: true });
  for (const kind of ['bytes', 'names', 'gone']) await mkdir(join(shadow, kind), { recursive: true });
  for (const root of roots) await syncTree(root, shadow);
}

async function syncTree(directory: string, shadow: string): Promise<void> {
  const lines: string[] = [];
  for (const { path, name, ino, isDirectory } of await entriesOf(directory)) {
    lines.push(`${ino} ${isDirectory ? 'd' : 'f'} ${name}\n`);
    if (isDirectory) await syncTree(path, shadow);
    else await writeFile(join(shadow, 'bytes', ino), await readFile(path));
  }
  await writeFile(join(shadow, 'names', await inodeOf(directory)), lines.join(''));
}

/**
 * After the end of every process: the power fails. What was not synced is gone; or, as `luck` has it, the names are as they were last
 * and of the bytes some pages got to the disk.
 *
 * @param luck a number from 0 to 1 each time
 */
export async function cutPower(disk: ForgetfulDisk, luck: () => number): Promise<void> {
  const isLucky = luck() < 0.5;
  if (!isLucky || luck() < 0.5) for (const root of disk.roots) await forgetNames(root, disk);
  for (const root of disk.written)
    for (const { path, ino } of await filesBelow(root)) {
      const [live, kept] = [await readFile(path), await bytesOf(ino, disk)];
      if (!live.equals(kept)) await writeFile(path, isLucky ? mixed(live, kept, luck) : kept);
    }
}

/** Puts every durable name back, then removes the others. */
async function forgetNames(root: string, { shadow }: ForgetfulDisk): Promise<void> {
  const durable = await durableTree(root, await inodeOf(root), shadow);
  const inodes = new Map(durable.map(({ path, ino }) => [path, ino]));
  const live = await treeBelow(root);
  const strays = live.filter(({ path, ino }) => inodes.get(path) !== ino);
  for (const { path, ino, isDirectory } of strays)
    if (!isDirectory) await link(path, join(shadow, 'gone', ino)).catch(unlessThere);
  const places = new Map(live.map(({ path, ino }) => [ino, path]));
  for (const { ino } of strays) places.delete(ino);
  for (const entry of durable) await bringBack(entry, places.get(entry.ino) ?? join(shadow, 'gone', entry.ino));
  for (const { path, ino } of strays.toReversed())
    if ((await inodeOf(path)) === ino) await rm(path, { recursive: true });
}

async function durableTree(directory: string, inode: string, shadow: string): Promise<readonly Entry[]> {
  const text = await readFile(join(shadow, 'names', inode), 'utf8').catch(() => '');
  const below = [...text.matchAll(/^(\d+) ([df]) (.+)$/gm)].map(async ([, ino = '', kind, name = '']) => {
    const entry = { path: join(directory, name), name, ino, isDirectory: kind === 'd' };
    return entry.isDirectory ? [entry, ...(await durableTree(entry.path, ino, shadow))] : [entry];
  });
  return (await Promise.all(below)).flat();
}

/** @param from where its inode has a name at present */
async function bringBack({ path, ino, isDirectory }: Entry, from: string): Promise<void> {
  if ((await inodeOf(path)) === ino) return;
  if (isDirectory) return rename(from, path);
  await link(from, `${path}.back`);
  await rename(`${path}.back`, path);
}

/** A file that was never synced has its name at most. */
function bytesOf(ino: string, { shadow }: ForgetfulDisk): Promise<Buffer> {
  return readFile(join(shadow, 'bytes', ino)).catch(() => Buffer.alloc(0));
}

const pageBytes = 4096;

/** Each page as it was written last or synced last; one that is on neither side is full of zeros, as file systems leave it. */
function mixed(live: Buffer, kept: Buffer, luck: () => number): Buffer {
  const whole = Buffer.alloc(luck() < 0.5 ? live.length : kept.length);
  for (let at = 0; at < whole.length; at += pageBytes)
    (luck() < 0.5 ? live : kept).subarray(at, at + pageBytes).copy(whole, at);
  return whole;
}

interface Entry {
  readonly path: string;
  readonly name: string;
  readonly ino: string;
  readonly isDirectory: boolean;
}

/** Files and directories; sockets are of the running process only. */
async function entriesOf(directory: string): Promise<readonly Entry[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return Promise.all(
    entries
      .filter((one) => one.isFile() || one.isDirectory())
      .map(async (one: Dirent) => {
        const path = join(directory, one.name);
        return { path, name: one.name, ino: await inodeOf(path), isDirectory: one.isDirectory() };
      }),
  );
}

/** A directory before what is in it. */
async function treeBelow(directory: string): Promise<readonly Entry[]> {
  const entries = await entriesOf(directory);
  const below = await Promise.all(
    entries.map(async (one) => (one.isDirectory ? [one, ...(await treeBelow(one.path))] : [one])),
  );
  return below.flat();
}

async function filesBelow(directory: string): Promise<readonly Entry[]> {
  return (await treeBelow(directory)).filter(({ isDirectory }) => !isDirectory);
}

/** '' where nothing is. */
async function inodeOf(path: string): Promise<string> {
  const stats = await lstat(path, { bigint: true }).catch(() => null);
  return stats === null ? '' : String(stats.ino);
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error;
}
