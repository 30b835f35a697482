import { isIP } from 'node:net';
import type { SmtpServer } from '@dropcast/notify/target';
import { type Parsed, refused } from './parsed.ts';

// Messages never repeat an address because it may contain a password.

/** Parses an `https:` URL, or `http:` for loopback addresses. Keeps the path without trailing slashes. */
export function parseBaseUrl(text: string): Parsed<string> {
  const url = webAddress(text);
  return url.ok ? { ok: true, value: url.value.origin + url.value.pathname.replace(/\/+$/, '') } : url;
}

/** Parses a web origin: scheme, host and port, without a path. */
export function parseOrigin(text: string): Parsed<string> {
  const url = webAddress(text);
  if (!url.ok) return url;
  if (url.value.pathname !== '/') return refused('has a path; write only scheme, host and port');
  return { ok: true, value: url.value.origin };
}

/** Parses a bare host name, as sent by a browser: no scheme, port or path. */
export function parseHostName(text: string): Parsed<string> {
  const isName = /^(?!-)[a-z\d-]{1,63}(?<!-)(?:\.(?!-)[a-z\d-]{1,63}(?<!-))*$/i.test(text) && text.length <= 253;
  if (isName) return { ok: true, value: text.toLowerCase() };
  return refused('not a host name; write it without scheme, port and path, like dropcast.example.com');
}

/** Parses a host name, an IP address without brackets, or `*.` and a name for all names below it. */
export function parseHostPattern(text: string): Parsed<string> {
  const name = parseHostName(text.replace(/^\*\./, ''));
  if (isIP(text) !== 0 || name.ok) return { ok: true, value: text.toLowerCase() };
  return refused('not a host; write only its name, like video.example.com or *.example.com');
}

/** Parses `off` or `HOST:PORT`, with an IPv6 address in brackets. Port 0 means any free port. */
export function parseListen(text: string): Parsed<{ readonly host: string; readonly port: number } | null> {
  if (text === 'off') return { ok: true, value: null };
  const [, host = '', digits = ''] = /^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]/]+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host === '') return refused(`not an address; write ${LISTEN_FORM}`);
  if (port > 65_535) return refused('not a port; at most 65535');
  return { ok: true, value: { host: host.replace(/^\[|\]$/g, ''), port } };
}

export const LISTEN_FORM = 'off, or host:port, like 127.0.0.1:7878 or [::1]:7878';

/**
 * Whether a host is this machine, so that TLS is not required: `localhost`, `127.0.0.0/8` or `::1`, with or without
 * brackets. The client applies the same rule; a test keeps the two in step. Importing the client's would load the whole
 * client for every command that reads a configuration.
 */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[?::1\]?)$/i.test(host);
}

function webAddress(text: string): Parsed<URL> {
  // `new URL` silently repairs such input: https:host, https:\\host, surrounding spaces, embedded line breaks.
  if (!/^https?:\/\/[^/\\\s]/i.test(text) || /[\s\\]/.test(text) || !URL.canParse(text))
    return refused('not a web address; write it like https://video.example.com/v1');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    return refused('contains a user name or password; remove it, the key belongs in service.api_key');
  if (text.includes('?')) return refused('has a query (?…); remove it');
  if (text.includes('#')) return refused('has a fragment (#…); remove it');
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return refused(
      'plain http shows the key to the network; write https (http is only for localhost, 127.x.x.x and [::1])',
    );
  return { ok: true, value: url };
}

export const SMTP_FORM = 'an address like smtps://mail.example.com or smtp://mail.example.com:587';

/** Parses an SMTP server address. Messages never repeat the address because it may contain a password. */
export function parseSmtp(text: string): Parsed<SmtpServer> {
  if (!/^smtps?:\/\/[^/\s]+\/?$/i.test(text) || !URL.canParse(text))
    return refused(`not a mail server; write ${SMTP_FORM}`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    return refused('contains a user name or password; write them as user and password');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const security = url.protocol === 'smtps:' ? 'tls' : isLoopback(host) ? 'plain' : 'starttls';
  const usual = { tls: 465, starttls: 587, plain: 25 }[security];
  return { ok: true, value: { host, port: url.port === '' ? usual : Number(url.port), security } };
}

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

/** Removes percent-encoding. Text that is not encoded correctly stays as it is. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
