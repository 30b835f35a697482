import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { access, lstat, mkdir, readlink, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../errno.ts';
import { LedgerError, refusal } from './ledger-error.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Creates the state directory and missing parents with mode 0700.
 *
 * @throws {LedgerError} with the reason if that fails
 */
export async function makeStateDirectory(path: string): Promise<void> {
  try {
    if (!(await isUsableDirectory(path))) await makeDirectory(path);
  } catch (error) {
    throw await refusal(path, error, stateDirectory(path));
  }
}

/** Returns the state directory's name for use in a sentence. */
export function stateDirectory(path: string): string {
  return `the state directory ${path}`;
}

/**
 * Whether the state directory exists.
 *
 * @throws {LedgerError} with the reason if it exists but cannot be read and written
 */
export async function isUsableDirectory(path: string): Promise<boolean> {
  return (await inspect(path, { wanted: 'directory', mode: R_OK | W_OK | X_OK })) !== null;
}

/**
 * Checks that a file can be read and written, without opening it: closing a descriptor of the ledger drops SQLite's
 * locks, and opening a named pipe blocks.
 *
 * @returns its size in bytes, or null if nothing is at the path
 * @throws {LedgerError} with the reason if it exists but cannot be used
 */
export async function sizeOfUsableFile(path: string): Promise<number | null> {
  return (await inspect(path, { wanted: 'regular file', mode: R_OK | W_OK }))?.size ?? null;
}

/**
 * Creates a directory and its parents without Node's `recursive`, which never returns where nothing can be created,
 * such as below /proc (Node 26.10).
 */
async function makeDirectory(path: string): Promise<void> {
  if ((await tryMake(path)) || dirname(path) === path) return;
  await makeDirectory(dirname(path));
  if (!(await tryMake(path))) throw new LedgerError(`${stateDirectory(path)} cannot be created in ${dirname(path)}`);
}

/** Creates one directory. @returns false if the parent is missing */
async function tryMake(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT') return false;
    throw error;
  }
}

async function inspect(
  path: string,
  { wanted, mode }: { wanted: 'directory' | 'regular file'; mode: number },
): Promise<Stats | null> {
  const name = wanted === 'directory' ? stateDirectory(path) : path;
  try {
    const found = await statOrNull(path, name);
    if (found === null) return null;
    const kind = kindOf(found);
    if (kind !== wanted) throw new LedgerError(`${name} is a ${kind}, not a ${wanted}`);
    await access(path, mode);
    return found;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw await refusal(path, error, name);
  }
}

async function statOrNull(path: string, name: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    const link = await lstat(path).catch(() => null);
    // Files of a ledger that another process has open may appear and disappear.
    if (link === null || !link.isSymbolicLink()) return link;
    throw new LedgerError(`${name} is a symbolic link to ${await readlink(path)}, which does not exist`, {
      cause: error,
    });
  }
}

function kindOf(stats: Stats): string {
  if (stats.isFile()) return 'regular file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isFIFO()) return 'named pipe';
  return stats.isSocket() ? 'socket' : 'device';
}
