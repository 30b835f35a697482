/** Why the ledger cannot be read or written at the moment, whatever stores its rows. */
export type LedgerTrouble =
  | 'disk full'
  | 'read-only'
  | 'disk failing'
  | 'out of memory'
  | 'cannot open'
  | 'damaged'
  | 'busy'
  /** The database of a fleet cannot be reached. */
  | 'away';

/**
 * Thrown by every call of the ledger's ports, and by the receipts, when the machine below them refuses. Nothing was
 * written. No file is at fault: everything waits, and the same call may work later.
 */
export class LedgerUnavailableError extends Error {
  override readonly name = 'LedgerUnavailableError';
  readonly reason: LedgerTrouble;

  /** Epoch milliseconds; null: not known. */
  readonly since: number | null;

  /**
   * @param reason decides the message, unless the store passes a better one; the error of the machine belongs into
   *   `cause`
   */
  constructor(reason: LedgerTrouble, { sentence, since, ...options }: UnavailableOptions = {}) {
    super(sentence ?? sentences[reason], options);
    this.reason = reason;
    this.since = since ?? null;
  }

  /** The code of the failure that this error becomes. */
  get failureCode(): string {
    return failureCodes[this.reason];
  }
}

export interface UnavailableOptions extends ErrorOptions {
  readonly sentence?: string;
  readonly since?: number;
}

/**
 * Thrown when the connection ended after COMMIT was sent: either everything was written, or nothing. The caller reads
 * again before it repeats anything.
 */
export class OutcomeUnknownError extends LedgerUnavailableError {
  constructor(options?: UnavailableOptions) {
    super('away', {
      sentence: 'the connection to the ledger ended while it committed: it may have done so',
      ...options,
    });
  }
}

/**
 * Whether the database of a fleet could not be reached. @param error may be a copy of its fields, because pg-boss
 * reports its failures that way
 */
export function isLedgerAway(error: unknown): boolean {
  const { name, reason } = Object(error) as Partial<LedgerUnavailableError>;
  return name === 'LedgerUnavailableError' && reason === 'away';
}

/** Its failure code. */
export const awayCode = 'LEDGER_AWAY';

/** Whether a failure with this code comes from the ledger. */
export function isLedgerFailure(code: string): boolean {
  return Object.values(failureCodes).includes(code);
}

/**
 * Whether a failure with this code usually ends within seconds and needs no action: the ledger is away or locked, or
 * this process or machine has too many open files at the moment (EMFILE, ENFILE).
 */
export function passesSoon(code: string): boolean {
  return code === failureCodes.away || code === failureCodes.busy || code === 'EMFILE' || code === 'ENFILE';
}

/** Whether a failure with this code means that the disk of the ledger or of a watched folder is full. */
export function isDiskFull(code: string): boolean {
  return code === failureCodes['disk full'] || code === 'ENOSPC' || code === 'EDQUOT';
}

/**
 * Failure codes are contract (`--json`, failures.jsonl): these keep the names that the first kind of ledger gave them.
 */
const failureCodes: Readonly<Record<LedgerTrouble, string>> = {
  'disk full': 'SQLITE_FULL',
  'read-only': 'SQLITE_READONLY',
  'disk failing': 'SQLITE_IOERR',
  'out of memory': 'SQLITE_NOMEM',
  'cannot open': 'SQLITE_CANTOPEN',
  damaged: 'SQLITE_CORRUPT',
  busy: 'SQLITE_BUSY',
  away: awayCode,
};

const sentences: Readonly<Record<LedgerTrouble, string>> = {
  'disk full': 'the disk of the state directory is full',
  'read-only': 'the ledger in the state directory cannot be written to',
  'disk failing': 'the disk of the state directory fails to read or write',
  'out of memory': 'there is no memory left for the ledger',
  'cannot open': 'the ledger or a file next to it in the state directory cannot be opened',
  damaged: 'the ledger in the state directory is damaged: restart dropcast, which says how to restore it',
  busy: 'another process has locked the ledger in the state directory',
  away: 'the database of the ledger does not answer',
};
