import { damaged } from './lost-ledger.ts';
import { LedgerError, LedgerInUseError } from './schema.ts';
import { refusal } from './usable.ts';

/** Primary result codes (sqlite.org/rescode.html). */
const sqlite = { busy: 5, corrupt: 11, full: 13, notADatabase: 26 } as const;

/** Why the ledger could not be opened, as a sentence. What neither SQLite nor the system refused is a bug and is thrown on. */
export async function explainOpening(error: unknown, path: string): Promise<LedgerError> {
  if (!(error instanceof Error && 'errcode' in error)) return refusal(path, error);
  const options = { cause: error };
  switch (Number(error.errcode) & 0xff) {
    case sqlite.busy:
      return new LedgerInUseError(`${path} is in use by another process`, options);
    case sqlite.corrupt:
    case sqlite.notADatabase:
      return damaged(path, error.message, options);
    case sqlite.full:
      return new LedgerError(`${path} cannot be used: the disk is full`, options);
    default:
      return new LedgerError(`${path} cannot be used: ${error.message}`, options);
  }
}
