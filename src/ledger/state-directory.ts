import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { access, lstat, mkdir, readlink, stat, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../errno.ts';
import { LedgerError, refusal } from './ledger-error.ts';
import { syncPath } from '../disk/file-system.ts';

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

/** File with the ledger's id, for another dropcast that checks a folder's owner and cannot read an open ledger. */
const idFile = 'ledger.id';

/**
 * File that names the database with the current ledger. `ledger.db` is then stale: using it would repeat other hosts'
 * uploads.
 */
const elsewhereFile = 'ledger.elsewhere';

/**
 * Reads the id that this state directory's folders are marked with, or null. A ledger that replaces a lost one keeps
 * the id. Otherwise its own folders would seem to belong to another ledger, and nothing would show that the other one
 * is gone.
 */
export async function readLedgerId(stateDir: string): Promise<string | null> {
  const text = await readFile(join(stateDir, idFile), 'utf8').catch(() => '');
  return /^([0-9a-f]{32})\n$/.exec(text)?.[1] ?? null;
}

export async function writeLedgerId(stateDir: string, id: string): Promise<void> {
  if ((await readLedgerId(stateDir)) !== id) await write(stateDir, idFile, id);
}

/** Records that the ledger is in a database. @param name display name, such as `PostgreSQL at db.example.com` */
export async function noteLedgerElsewhere(stateDir: string, name: string): Promise<void> {
  if ((await placeElsewhere(stateDir)) !== name) await write(stateDir, elsewhereFile, name);
}

/** @throws {LedgerError} if the ledger of this state directory is in a database */
export async function requireLedgerHere(stateDir: string): Promise<void> {
  const name = await placeElsewhere(stateDir);
  if (name === null) return;
  throw new LedgerError(
    `the ledger of ${stateDir} is in ${name} now: set \`ledger\` in the configuration again, or bring it back with \`dropcast ledger copy --from ADDRESS\``,
  );
}

/** Records that the ledger is in the state directory again. */
export async function forgetLedgerElsewhere(stateDir: string): Promise<void> {
  await rm(join(stateDir, elsewhereFile), { force: true });
  await syncPath(stateDir);
}

/** Names the database with the ledger. @returns null if the ledger is in the state directory, or there is none yet */
export async function placeElsewhere(stateDir: string): Promise<string | null> {
  try {
    return (await readFile(join(stateDir, elsewhereFile), 'utf8')).trim();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces a file's text. After a crash, the file has either the old or the new text. */
async function write(stateDir: string, name: string, text: string): Promise<void> {
  const path = join(stateDir, name);
  {
    await using file = await open(`${path}.new`, 'w', 0o600);
    await file.writeFile(`${text}\n`);
    await file.sync();
  }
  await rename(`${path}.new`, path);
  await syncPath(stateDir);
}
