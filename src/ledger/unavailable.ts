import { dirname } from 'node:path';
import { LedgerUnavailableError } from '../pipeline/file/store-errors.ts';
import type { LedgerTrouble } from '../pipeline/file/store-errors.ts';
import { errnoOf } from '../errno.ts';
import { shellWord } from '../shell-word.ts';

/**
 * Translates errors of SQLite and of the files next to the ledger. Only this file maps SQLite result codes and errno
 * names.
 *
 * @param path path of the ledger or of the file next to it; null: no path
 * @returns the error to throw: a `LedgerUnavailableError` with the original as its cause if the machine refused,
 *   otherwise the error itself, which is a bug
 */
export function translated(error: unknown, path: string | null): unknown {
  const reason = reasonOf(error);
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

function reasonOf(error: unknown): LedgerTrouble | undefined {
  const code = errnoOf(error);
  const isOfSqlite = code === 'ERR_SQLITE_ERROR' && error instanceof Error && 'errcode' in error;
  return isOfSqlite ? troubleOfResult.get(Number(error.errcode) & 0xff) : troubleOfErrno.get(code);
}
