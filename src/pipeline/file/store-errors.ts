/** Why the ledger cannot be read or written at the moment, for any kind of store. */
export type LedgerTrouble =
  | 'disk full'
  | 'read-only'
  | 'disk failing'
  | 'out of memory'
  | 'cannot open'
  | 'damaged'
  | 'busy'
  /** The fleet's database cannot be reached. */
  | 'away';

/**
 * Thrown by every call on the ledger's ports, and by the receipts, when the underlying disk, memory or database fails.
 * Nothing was written and no file is at fault. Everything waits, and the same call may succeed later.
 */
export class LedgerUnavailableError extends Error {
  override readonly name = 'LedgerUnavailableError';
  readonly reason: LedgerTrouble;

  /** Epoch milliseconds; null if not known. */
  readonly since: number | null;

  /**
   * @param reason determines the message, unless the store supplies a better one; the original error belongs in `cause`
   */
  constructor(reason: LedgerTrouble, { sentence, since, ...options }: UnavailableOptions = {}) {
    super(sentence ?? sentences[reason], options);
    this.reason = reason;
    this.since = since ?? null;
  }

  get failureCode(): string {
    return failureCodes[this.reason];
  }
}

export interface UnavailableOptions extends ErrorOptions {
  readonly sentence?: string;
  readonly since?: number;
}

/**
 * Thrown when the connection ended after COMMIT was sent, so either everything was written or nothing was. The caller
 * reads again before repeating anything.
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
 * Whether the fleet's database could not be reached. @param error may be a copy of the error's fields, because pg-boss
 * reports errors that way
 */
export function isLedgerAway(error: unknown): boolean {
  const { name, reason } = Object(error) as Partial<LedgerUnavailableError>;
  return name === 'LedgerUnavailableError' && reason === 'away';
}

export const awayCode = 'LEDGER_AWAY';

export function isLedgerFailure(code: string): boolean {
  return Object.values(failureCodes).includes(code);
}

/**
 * Whether a failure with this code usually passes within seconds without action: the ledger is unreachable or locked,
 * or too many files are open in this process or on this machine (EMFILE, ENFILE).
 */
export function passesSoon(code: string): boolean {
  return code === failureCodes.away || code === failureCodes.busy || code === 'EMFILE' || code === 'ENFILE';
}

/** Whether this code means that the ledger's disk or a watched folder's disk is full. */
export function isDiskFull(code: string): boolean {
  return code === failureCodes['disk full'] || code === 'ENOSPC' || code === 'EDQUOT';
}

/**
 * Failure codes, which are a public contract (`--json`, failures.jsonl). The names come from the first kind of ledger.
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
