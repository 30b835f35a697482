import type { LedgerTrouble } from '../../pipeline/file/store-errors.ts';
import type { PostgresPlace } from './client-config.ts';

/** What an error from pg, the server or the network means. */
export interface Trouble {
  readonly reason: LedgerTrouble;
  /** Reason; follows `PostgreSQL at …: `. */
  readonly why: string;
  /** Whether the connection is unusable; the last statement may or may not have been executed. */
  readonly isCut: boolean;
}

/**
 * Classifies an error. Only this file knows SQLSTATEs, errno names and pg's messages.
 *
 * @returns null for a bug, or an error that does not come from the database
 */
export function troubleOf(error: unknown, place: PostgresPlace): Trouble | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error ? String(error.code) : '';
  if (isSqlState(code)) return fromServer(code, error.message, place);
  const network = fromNetwork(code, place) ?? fromCertificate(code, place) ?? fromDriver(error.message, place);
  return network === null ? null : { reason: 'away', why: network, isCut: true };
}

/**
 * Whether a statement was refused because it was prepared before its tables changed. It was not executed.
 *
 * @param error from pg, or as thrown by the pool
 */
export function isPlanOld(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error && 'routine' in cause && cause.routine === 'RevalidateCachedQuery';
}

/**
 * Whether the server rolled back a transaction because of a deadlock or a concurrent change, so that it may be
 * repeated.
 *
 * @param error as thrown by the pool
 */
export function isConflict(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause && (cause.code === '40P01' || cause.code === '40001');
}

/**
 * Whether a statement tried to create a schema, table or row that another session had just created.
 *
 * @param error from pg, or as thrown by the pool
 */
export function isThereAlready(error: unknown): boolean {
  const codes: readonly unknown[] = ['42P06', '42P07', '23505'];
  return error instanceof Error && 'code' in error && codes.includes(error.code);
}

/** Matches SQLSTATEs: five letters and digits, unlike errno names. */
function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code);
}

/** Error codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
function fromServer(code: string, message: string, { user, database }: PostgresPlace): Trouble | null {
  const at = (reason: LedgerTrouble, why: string, isCut = false): Trouble => ({ reason, why, isCut });
  switch (code) {
    case '28P01':
      return at('away', `it refuses the password of the user ${quoted(user)}; check ledger.password`, true);
    case '08P01':
      return at('away', `${message}${/startup parameter/.test(message) ? poolerWords : ''}`, true);
    case '28000':
      return at(
        'away',
        `it rejects the connection: ${message}; check pg_hba.conf there, and the user and tls in ledger`,
        true,
      );
    case '3D000':
      return at('away', `it has no database ${quoted(database)}; create it, or correct ledger (docs/fleet.md)`, true);
    case '42501':
      return at('cannot open', `the user ${quoted(user)} may not do this: ${message}; grant it (docs/fleet.md)`);
    case '53300':
      return at('away', 'it has no free connections; raise its max_connections', true);
    case '53100':
      return at('disk full', 'its disk is full');
    case '53200':
      return at('out of memory', 'it is out of memory');
    case '25006':
      return at('read-only', 'it is a standby or read-only, and takes no changes; ledger must name the primary server');
    case '58030':
      return at('disk failing', `its disk fails to read or write: ${message}`);
    case 'XX001':
    case 'XX002':
      return at('damaged', `its data is damaged: ${message}; restore it from a backup`);
    case '40001':
    case '40P01':
    case '55P03':
      return at('busy', `another session blocks it: ${message}`);
    case '57014':
      return at('busy', 'a statement took too long, and was cancelled');
    default:
      return /^(?:08|57P|25P03)/.test(code) ? at('away', message, true) : null;
  }
}

const poolerWords = ', as poolers say: ledger must name PostgreSQL itself';

function fromNetwork(code: string, { host }: PostgresPlace): string | null {
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused (ECONNREFUSED)';
    case 'ENOENT':
      return `there is no socket in ${host}: PostgreSQL is not running, or its socket is elsewhere (ENOENT)`;
    case 'EACCES':
      return `permission denied for the socket in ${host} (EACCES)`;
    case 'ENOTFOUND':
      return `the name ${host} cannot be resolved (ENOTFOUND)`;
    case 'EAI_AGAIN':
      return `the name servers do not answer for ${host} (EAI_AGAIN)`;
    case 'ECONNRESET':
    case 'EPIPE':
      return `the connection was cut (${code})`;
    case 'ETIMEDOUT':
      return 'no answer (ETIMEDOUT)';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
    case 'ENETDOWN':
    case 'EADDRNOTAVAIL':
      return `no route to it (${code})`;
    default:
      return null;
  }
}

/** Codes from OpenSSL (nodejs.org/api/tls.html#x509-certificate-error-codes) and Node. */
function fromCertificate(code: string, { host }: PostgresPlace): string | null {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `its certificate is not for ${host}, which ledger names`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return `its certificate is out of date (${code})`;
  if (/^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_|INVALID_CA|HOSTNAME_MISMATCH)/.test(code))
    return `its certificate is not signed by a trusted authority (${code}); name the right one in ledger.ca`;
  return /^(?:ERR_SSL|EPROTO)/.test(code) ? `TLS failed (${code})` : null;
}

/** Matches pg's own errors by message, because they have no codes. */
function fromDriver(message: string, { user }: PostgresPlace): string | null {
  if (message.includes('does not support SSL'))
    return 'it offers no TLS; turn it on there (ssl = on), or trust the network with ledger.tls: false';
  if (/client password must be/.test(message))
    return `it asks for a password for the user ${quoted(user)}; set ledger.password`;
  if (/timeout/i.test(message)) return 'no answer in time';
  if (/^Connection terminated|not queryable|establishing an SSL connection|connection is closed/i.test(message))
    return 'the connection was cut';
  return null;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
