/** Why the ledger cannot be read or written at the moment, whatever keeps its rows. */
export type LedgerTrouble =
  | 'disk full'
  | 'read-only'
  | 'disk failing'
  | 'out of memory'
  | 'cannot open'
  | 'damaged'
  | 'busy';

/**
 * Thrown by every call of the ledger's ports, and by the receipts, when the machine under them refuses. Nothing was written.
 * It is no file's fault: everything waits, and the same call may work later.
 */
export class LedgerUnavailableError extends Error {
  override readonly name = 'LedgerUnavailableError';
  readonly reason: LedgerTrouble;

  /** @param reason decides the message; what the machine said belongs into `cause` */
  constructor(reason: LedgerTrouble, options?: ErrorOptions) {
    super(sentences[reason], options);
    this.reason = reason;
  }

  /** The code of the failure that it becomes. */
  get failureCode(): string {
    return failureCodes[this.reason];
  }
}

/** Whether a failure with this code is the ledger's. */
export function isLedgerFailure(code: string): boolean {
  return Object.values(failureCodes).includes(code);
}

/** Failure codes are contract (`--json`, failures.jsonl): these keep the names that the first kind of ledger gave them. */
const failureCodes: Readonly<Record<LedgerTrouble, string>> = {
  'disk full': 'SQLITE_FULL',
  'read-only': 'SQLITE_READONLY',
  'disk failing': 'SQLITE_IOERR',
  'out of memory': 'SQLITE_NOMEM',
  'cannot open': 'SQLITE_CANTOPEN',
  damaged: 'SQLITE_CORRUPT',
  busy: 'SQLITE_BUSY',
};

const sentences: Readonly<Record<LedgerTrouble, string>> = {
  'disk full': 'the disk of the state directory is full',
  'read-only': 'the ledger in the state directory cannot be written to',
  'disk failing': 'the disk of the state directory fails to read or write',
  'out of memory': 'there is no memory left for the ledger',
  'cannot open': 'the ledger or a file beside it in the state directory cannot be opened',
  damaged: 'the ledger in the state directory is damaged: restart dropcast, which says how to restore it',
  busy: 'another process has locked the ledger in the state directory',
};
