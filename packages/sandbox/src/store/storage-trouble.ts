/** A problem with the data folder. Not a bug: it disappears once the folder's owner fixes it. */
interface StorageTrouble {
  readonly isFull: boolean;
  /** The system's or SQLite's own description of the error, to be used in a sentence; contains no path. */
  readonly what: string;
}

/** Recognises storage errors. @returns undefined for other errors */
export function storageTroubleOf(error: unknown): StorageTrouble | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  if (error.code === 'ERR_SQLITE_ERROR') return troubleOfDatabase(error);
  const what = String(error.code);
  return SYSTEM_TROUBLES.has(what) ? { isFull: what === 'ENOSPC' || what === 'EDQUOT', what } : undefined;
}

const SYSTEM_TROUBLES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'ENOENT', 'ENOTDIR', 'ESTALE']);

/**
 * Recognises SQLite errors by their primary result code, the low byte of node:sqlite's `errcode`
 * (https://sqlite.org/rescode.html).
 */
function troubleOfDatabase(error: Error): StorageTrouble | undefined {
  const result = 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  return DATABASE_TROUBLES.has(result)
    ? { isFull: result === SQLITE_FULL, what: `SQLite: ${error.message}` }
    : undefined;
}

const SQLITE_FULL = 13;
const DATABASE_TROUBLES = new Set([
  SQLITE_FULL,
  8, // READONLY
  10, // IOERR
  11, // CORRUPT
  14, // CANTOPEN
]);
