import { isLoopback } from './addresses.ts';
import { type Parsed, refused } from './parsed.ts';

/** The address of a ledger's PostgreSQL database. */
export interface LedgerAddress {
  /** The address without a password, for display. */
  readonly url: string;
  /** A host name, an IP address without brackets, or the absolute path of a Unix socket directory. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

export const LEDGER_FORM = 'an address like postgres://dropcast@db.example.com/dropcast';

const ADDRESS =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#\s]*)(?::(?<password>[^:@/?#\s]*))?@)?(?<place>[^@/?#\s]*)(?:\/(?<database>[^@/?#\s]*))?(?:\?(?<query>[^#\s]*))?$/;

const PLACE = /^(?<host>\[[\da-f:.]+\]|[\w%.-]*)(?::(?<digits>\d{1,5}))?$/i;

/**
 * Parses a PostgreSQL address in libpq's format. Messages never repeat the address because it may contain a password.
 */
export function parseLedgerAddress(text: string): Parsed<LedgerAddress> {
  const { user = '', place = '', database = '', query } = ADDRESS.exec(text)?.groups ?? {};
  if (!ADDRESS.test(text)) return refused(notAnAddress(text));
  if (place.includes(',')) return refused('names several hosts; write one host, which leads to the primary server');
  const { host: name = '', digits = '5432' } = PLACE.exec(place)?.groups ?? {};
  if (!PLACE.test(place)) return refused(notAnAddress(text));
  if (Number(digits) > 65_535 || Number(digits) === 0) return refused('not a port; 1 to 65535');
  const directory = /^host=(?<directory>[^&]+)$/.exec(query ?? '')?.groups?.['directory'];
  if (query !== undefined && (directory === undefined || name !== '')) return refused(noQuery(query));
  const host = decoded(directory ?? name).replace(/^\[|\]$/g, '');
  if (host === '') return refused(`has no host; write ${LEDGER_FORM}`);
  if (user === '') return refused(`has no user; write ${LEDGER_FORM}`);
  if (database === '') return refused(`names no database; write ${LEDGER_FORM}`);
  const value = { host, port: Number(digits), user: decoded(user), database: decoded(database) };
  return { ok: true, value: { url: withoutPassword(text), ...value } };
}

function notAnAddress(text: string): string {
  const special =
    text.startsWith('postgres') && text.includes('@')
      ? '; in a password, write @ / : ? # % as %40 %2F %3A %3F %23 %25'
      : '';
  return `not the address of a PostgreSQL database; write ${LEDGER_FORM}${special}`;
}

function noQuery(query: string): string {
  const instead = /ssl/.test(query) ? 'instead of sslmode and the like, write ledger.tls and ledger.ca' : 'remove it';
  return `has a query (?…); ${instead}`;
}

/** The password in an address; null if there is none. */
export function passwordIn(text: string): string | null {
  const password = ADDRESS.exec(text)?.groups?.['password'];
  return password === undefined || password === '' ? null : decoded(password);
}

/**
 * Returns the address without its password.
 *
 * @param instead replaces the password and the colon before it
 */
export function withoutPassword(text: string, instead = ''): string {
  return text.replace(/^([^:]*:\/\/[^:@/]*):[^/]*@/, `$1${instead}@`);
}

/** Whether a database host is this machine. */
export function isOnThisMachine(host: string): boolean {
  return host.startsWith('/') || isLoopback(host);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
