import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { access, lstat, readlink, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { LedgerError } from './schema.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Looks whether the state directory is there and can be worked in.
 *
 * @returns false when nothing is at the path
 * @throws {LedgerError} that says why not
 */
export async function isUsableDirectory(path: string): Promise<boolean> {
  return (await look(path, { wanted: 'directory', mode: R_OK | W_OK | X_OK })) !== null;
}

/**
 * Looks whether a file can be read and written, without opening it: a descriptor of the ledger that is closed drops SQLite's
 * locks, and a named pipe is waited for.
 *
 * @returns its size in bytes, or null when nothing is at the path
 * @throws {LedgerError} that says why not
 */
export async function sizeOfUsableFile(path: string): Promise<number | null> {
  return (await look(path, { wanted: 'regular file', mode: R_OK | W_OK }))?.size ?? null;
}

/** What the system refused, as a sentence. Anything else is a bug and is thrown on. */
export async function refusal(path: string, error: unknown, name = path): Promise<LedgerError> {
  if (error instanceof LedgerError) return error;
  if (!(error instanceof Error && 'syscall' in error)) throw error;
  return new LedgerError(`${name} cannot be used: ${await reasonOf(error, path)}`, { cause: error });
}

/** How a sentence names it. */
export function stateDirectory(path: string): string {
  return `the state directory ${path}`;
}

async function look(
  path: string,
  { wanted, mode }: { wanted: 'directory' | 'regular file'; mode: number },
): Promise<Stats | null> {
  const name = wanted === 'directory' ? stateDirectory(path) : path;
  try {
    const found = await statOrNull(path, name);
    if (found === null) return null;
    const kind = kindOf(found);
    if (kind !== wanted) throw new LedgerError(`${name} is a ${kind}, where a ${wanted} belongs`);
    await access(path, mode);
    return found;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw await refusal(path, error, name);
  }
}

async function statOrNull(path: string, name: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const link = await lstat(path).catch(() => null);
    // Another process has the ledger open: its files come and go.
    if (link === null || !link.isSymbolicLink()) return link;
    throw new LedgerError(`${name} is a symbolic link to ${await readlink(path)}, where nothing is`, { cause: error });
  }
}

function kindOf(stats: Stats): string {
  if (stats.isFile()) return 'regular file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isFIFO()) return 'named pipe';
  return stats.isSocket() ? 'socket' : 'device';
}

const reasons: Readonly<Record<string, string>> = {
  ENOTDIR: 'a part of the path is not a directory (ENOTDIR)',
  ELOOP: 'too many symbolic links (ELOOP)',
  EROFS: 'the file system is read-only (EROFS)',
  ENOSPC: 'the disk is full (ENOSPC)',
  EDQUOT: 'the disk quota is used up (EDQUOT)',
};

async function reasonOf(error: Error, path: string): Promise<string> {
  const code = codeOf(error) ?? '';
  if (code === 'EACCES' || code === 'EPERM')
    return `permission denied (${code})${await ownerOf(path)}${await howToOwn(path)}`;
  return reasons[code] ?? error.message;
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Of the file, or of the nearest directory above it that may be looked at. */
async function ownerOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (found === null) return dirname(path) === path ? '' : ownerOf(dirname(path));
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return `; ${path} belongs to ${user(found.uid)} with mode ${mode}, and this is ${user(process.geteuid?.() ?? NaN)}`;
}

/** A file of somebody else in a directory of ours was left by a run as another user, mostly root: it can be given back. */
async function howToOwn(path: string): Promise<string> {
  const [file, directory] = await Promise.all([path, dirname(path)].map((each) => stat(each).catch(() => null)));
  const us = process.geteuid?.();
  if (!file || !directory || file.uid === us || directory.uid !== us) return '';
  return `; give it back with \`sudo chown -R ${ownName() ?? `${directory.uid}:${directory.gid}`} ${dirname(path)}\``;
}

/** With the colon that stands for the group of the user; null for a user without a name, of whom chown(1) knows no group. */
function ownName(): string | null {
  try {
    return `${userInfo().username}:`;
  } catch {
    return null;
  }
}

function user(uid: number): string {
  return uid === 0 ? 'root' : `user ${uid}`;
}
