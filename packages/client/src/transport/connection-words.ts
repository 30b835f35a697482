import { codeOf } from '../errors.ts';
import { unusableProxyCode } from './trusting-agent.ts';

/** A request that received no response. */
export interface NoAnswer {
  /** The error from the system or a library. */
  readonly cause: unknown;
  /** System errno name, OpenSSL or Node code, `timeout`, `lookup_timeout` or `http2_only`. */
  readonly code: string;
  readonly url: URL;
  /** The proxy that the environment configures for this address; NO_PROXY may exempt the address. */
  readonly proxy: URL | null;
  /** Whether the connection was established, including TLS. */
  readonly isUp: boolean;
}

/**
 * Explains why a request received no response and what to do, in one sentence without a full stop. Shows only the
 * origin of the address.
 */
export function whyNoAnswer(failed: NoAnswer): string {
  const { code, url, proxy, isUp } = failed;
  if (isUp && code !== http2Code) return whyBroken(code, url.origin);
  if (code === unusableProxyCode && failed.cause instanceof Error) return failed.cause.message;
  if (proxy !== null && code === 'ERR_PROXY_TUNNEL') return whyNoTunnel(failed.cause, url, proxy);
  const why = whyOfEach(failed.cause) ?? connectionAdvice(code);
  if (proxy !== null && isOfProxy(failed.cause, url, proxy)) {
    return `the proxy ${proxy.origin} of HTTPS_PROXY cannot be reached: ${why}`;
  }
  return `${url.origin} cannot be reached: ${why}${proxy === null ? '' : `; HTTPS_PROXY is ${proxy.origin}`}`;
}

function whyBroken(code: string, origin: string): string {
  if (code === 'timeout') return `${origin} did not answer in time`;
  if (code === 'HPE_HEADER_OVERFLOW') return `${origin} answered with too many or too long headers (${code})`;
  if (code.startsWith('HPE_')) return `${origin} sent something that is not valid HTTP (${code})`;
  return `the connection to ${origin} broke before the answer was complete (${code})`;
}

/** Explains why the proxy was reached but did not open a tunnel. */
function whyNoTunnel(cause: unknown, { host }: URL, proxy: URL): string {
  const who = `the proxy ${proxy.origin} of HTTPS_PROXY`;
  const status = numberOf(cause, 'statusCode');
  if (status === undefined) return `${who} closed the connection without an answer`;
  if (status !== 407)
    return `${who} does not connect to ${host}: it answered ${status}; allow the host there, or add it to NO_PROXY`;
  return proxy.username === '' && proxy.password === ''
    ? `${who} wants a user name and password (407); put them before its host, as NAME:PASSWORD@`
    : `${who} refuses the user name and password in that variable (407); correct them, with @ written as %40 and : as %3A`;
}

const mostAddresses = 4;

/** Explains why each address of a name could not be reached; null if the reason is the same for all. */
function whyOfEach(cause: unknown): string | null {
  if (!(cause instanceof AggregateError)) return null;
  const tries = cause.errors.flatMap((error: unknown) => {
    const [address, code] = [textOf(error, 'address'), codeOf(error)];
    return address === undefined || code === undefined ? [] : [{ address, code }];
  });
  if (new Set(tries.map(({ code }) => code)).size < 2) return null;
  return tries
    .slice(0, mostAddresses)
    .map(({ address, code }) => `${address}: ${connectionAdvice(code)}`)
    .join('; ');
}

/** Code of a server that speaks HTTP/2 and refuses HTTP/1.1. */
export const http2Code = 'http2_only';

/**
 * Whether a connection failed because the server speaks only HTTP/2: it refused the protocol in the handshake (TLS
 * alert 120, RFC 7301 section 3.2), or it began with a SETTINGS frame of stream 0 (RFC 9113 sections 3.4 and 6.5).
 */
export function isHttp2(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  if (/alert no application protocol|alert number 120\b/.test(cause.message)) return true;
  const start = 'rawPacket' in cause && cause.rawPacket instanceof Uint8Array ? cause.rawPacket : new Uint8Array();
  return start.length >= 9 && start[3] === 4 && start.subarray(5, 9).every((byte) => byte === 0);
}

const noRoute = 'there is no route to it; check the network of this machine';
const noReply = 'it does not answer; a firewall may block the connection';
const closed = 'the connection was closed while it was set up; a firewall or a proxy may block it';
const noTls = 'it does not speak https there';
const forbidden = 'this machine forbids the connection; check its firewall, and IPAddressDeny= of the unit';
const clock = 'check the clock of this machine with `timedatectl`';
const http2 = 'it speaks only HTTP/2; allow HTTP/1.1 there, or put a reverse proxy that speaks HTTP/1.1 in front of it';
const untrusted =
  'its certificate is from an authority that this machine does not trust; if that is your own authority, or that of your proxy, name its file in NODE_EXTRA_CA_CERTS';

/**
 * The usual cause of each code, and what to do about it. Codes are listed in errno(3), getaddrinfo(3),
 * X509_verify_cert_error_string(3) and Node's `errors` page.
 */
const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no host has this name; check the address, and the name server of this machine',
  EAI_AGAIN: 'its name cannot be resolved at the moment; check the name server of this machine',
  ETIMEDOUT: noReply,
  timeout: noReply,
  lookup_timeout: 'the name server of this machine does not answer; check it with `getent hosts NAME`',
  [http2Code]: http2,
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  ENETDOWN: noRoute,
  ECONNRESET: closed,
  EPIPE: closed,
  EPERM: forbidden,
  EACCES: forbidden,
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  CERT_HAS_EXPIRED: `its certificate has expired; ${clock}, or have the certificate renewed`,
  CERT_NOT_YET_VALID: `its certificate is not valid yet; ${clock}`,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name; check the address',
  CERT_REVOKED: 'its certificate was revoked',
  CERT_UNTRUSTED: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};

/**
 * Explains why a connection could not be established and what to do, as a clause that ends with the code and omits the
 * address.
 *
 * @param code system errno name, OpenSSL or Node code, or one of the client's own; for others the clause is 'the
 *   connection failed'
 */
export function connectionAdvice(code: string): string {
  return `${Object.hasOwn(meanings, code) ? meanings[code] : 'the connection failed'} (${code})`;
}

/**
 * Whether it was the proxy, not the destination, that could not be reached. System errors name the host or port that
 * they concern.
 */
function isOfProxy(cause: unknown, url: URL, proxy: URL): boolean {
  const hostname = textOf(cause, 'hostname') ?? textOf(cause, 'address');
  const isProxyHost = hostname === proxy.hostname.replace(/^\[|\]$/g, '') && proxy.hostname !== url.hostname;
  const port = numberOf(cause, 'port');
  return isProxyHost || (port === portOf(proxy) && port !== portOf(url));
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? ({ 'http:': 80 }[protocol] ?? 443) : Number(port);
}

function textOf(error: unknown, field: string): string | undefined {
  const value = fieldOf(error, field);
  return typeof value === 'string' ? value : undefined;
}

function numberOf(error: unknown, field: string): number | undefined {
  const value = fieldOf(error, field);
  return typeof value === 'number' ? value : undefined;
}

function fieldOf(error: unknown, field: string): unknown {
  return codeOf(error) === undefined ? undefined : (error as Readonly<Record<string, unknown>>)[field];
}
