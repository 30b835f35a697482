import { stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { errnoOf } from '../errno.ts';
import { LedgerUnavailableError } from '../pipeline/file/store-errors.ts';
import type { LedgerTrouble } from '../pipeline/file/store-errors.ts';
import { shellWord } from '../shell-word.ts';

/**
 * Thrown when the ledger or a file next to it cannot be opened. The message is one sentence with the remedy. Nothing
 * was changed.
 */
export class LedgerError extends Error {
  override readonly name: string = 'LedgerError';
}

/** Thrown when another process has the ledger open. */
export class LedgerInUseError extends LedgerError {
  override readonly name = 'LedgerInUseError';
}

/**
 * Turns a file system error into a sentence.
 *
 * @param name how the sentence names the path
 * @throws the error itself if it is not from the file system, which is a bug
 */
export async function refusal(path: string, error: unknown, name = path): Promise<LedgerError> {
  if (error instanceof LedgerError) return error;
  if (!(error instanceof Error && 'syscall' in error)) throw error;
  return new LedgerError(`${name} cannot be used: ${await reasonOf(error, path)}`, { cause: error });
}

const reasons: Readonly<Record<string, string>> = {
  ENOTDIR: 'a part of the path is not a directory (ENOTDIR)',
  ELOOP: 'too many symbolic links (ELOOP)',
  EROFS: 'the file system is read-only (EROFS)',
  ENOSPC: 'the disk is full (ENOSPC)',
  EDQUOT: 'the disk quota is used up (EDQUOT)',
  EIO: 'the disk fails to read or write (EIO)',
  EMFILE: 'too many files open (EMFILE): raise the limit (`LimitNOFILE=`, `ulimit -n`)',
  ENFILE: 'too many files open on this machine (ENFILE)',
};

async function reasonOf(error: Error, path: string): Promise<string> {
  const code = errnoOf(error);
  if (code === 'EACCES' || code === 'EPERM')
    return `permission denied (${code})${await ownerOf(path)}${await howToOwn(path)}`;
  return reasons[code] ?? error.message;
}

/** Names the owner of the file, or of the nearest directory above it that can be inspected. */
async function ownerOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (found === null) return dirname(path) === path ? '' : ownerOf(dirname(path));
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return `; ${path} belongs to ${user(found.uid)} with mode ${mode}, and this is ${user(process.geteuid?.() ?? NaN)}`;
}

/** Suggests a chown if another user, usually root, ran dropcast and left files in our directory. */
async function howToOwn(path: string): Promise<string> {
  const [file, directory] = await Promise.all([path, dirname(path)].map((each) => stat(each).catch(() => null)));
  const us = process.geteuid?.();
  if (!file || !directory || file.uid === us || directory.uid !== us) return '';
  return `; give it back with \`sudo chown -R ${ownName() ?? `${directory.uid}:${directory.gid}`} ${dirname(path)}\``;
}

/**
 * Returns our user name for chown(1). The trailing colon means the login group. Null for a user without a name, whose
 * group chown cannot look up.
 */
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

/**
 * Translates errors of SQLite and of the files next to the ledger. Only this file maps SQLite result codes and errno
 * names.
 *
 * @param path path of the ledger or of the file next to it; null: no path
 * @returns the error to throw: a `LedgerUnavailableError` with the original as its cause if the machine refused,
 *   otherwise the error itself, which is a bug
 */
export function translated(error: unknown, path: string | null): unknown {
  const reason = troubleOf(error);
  if (reason === undefined) return error;
  const isNamed = reason === 'disk full' && path !== null;
  return new LedgerUnavailableError(reason, { cause: error, ...(isNamed && { sentence: fullDisk(dirname(path)) }) });
}

/** Returns the sentence for a full disk. The half minute is the breaker's `suspendedMs`. */
function fullDisk(directory: string): string {
  return `the disk of ${directory} is full: free some space (\`df -h ${shellWord(directory)}\`); dropcast resumes within half a minute`;
}

/** SQLite's primary result codes (sqlite.org/rescode.html). */
const troubleOfResult: ReadonlyMap<number, LedgerTrouble> = new Map([
  [5, 'busy'],
  [7, 'out of memory'],
  [8, 'read-only'],
  [10, 'disk failing'],
  [11, 'damaged'],
  [13, 'disk full'],
  [14, 'cannot open'],
  [26, 'damaged'],
]);

const troubleOfErrno: ReadonlyMap<string, LedgerTrouble> = new Map([
  ['ENOSPC', 'disk full'],
  ['EDQUOT', 'disk full'],
  ['EROFS', 'read-only'],
  ['EIO', 'disk failing'],
]);

function troubleOf(error: unknown): LedgerTrouble | undefined {
  const code = errnoOf(error);
  const isOfSqlite = code === 'ERR_SQLITE_ERROR' && error instanceof Error && 'errcode' in error;
  return isOfSqlite ? troubleOfResult.get(Number(error.errcode) & 0xff) : troubleOfErrno.get(code);
}
