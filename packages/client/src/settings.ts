import { X509Certificate } from 'node:crypto';

import { isLoopback } from './upload/reach.ts';
import type { Secret, TransportOptions } from './transport/transport.ts';
import type { VideoClientOptions } from './client-options.ts';
import type { RequestOptions } from './video-client.ts';
import { requestHeaders } from './wire/request-headers.ts';

/** The validated options, with defaults filled in. */
export interface ClientSettings extends TransportOptions {
  readonly maxRetries: number;
  readonly maxRetryAfterMs: number;
  readonly honoursIdempotencyKey: boolean;
  /** Headers for every request to the service, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The longest delay that a Node timer supports; a longer one fires immediately. */
export const longestTimerMs = 2_147_483_647;

const longestRetryAfterMs = 86_400_000;
const mostRetries = 10;

/** @throws TypeError an option is invalid; the message names the option and never shows the key */
export function settingsOf(options: VideoClientOptions): ClientSettings {
  const { timeoutMs = 30_000, maxRetries = 2, maxRetryAfterMs = 60_000, sendKeyTo = [], ca } = options;
  const { honoursIdempotencyKey = false } = options;
  checkOptions({ timeoutMs, maxRetries, maxRetryAfterMs });
  if (options.agent?.https !== undefined && (ca ?? options.proxyEnv) !== undefined)
    throw new TypeError('agent.https replaces ca and proxyEnv: configure them in the agent');
  for (const pem of typeof ca === 'string' ? [ca] : Object.values(ca ?? {})) requireCertificate(pem);
  return {
    baseUrl: baseOf(options.baseUrl),
    apiKey: secretOf(options.apiKey),
    sendKeyTo: sendKeyTo.map(originOfUploads),
    timeoutMs,
    maxRetries,
    maxRetryAfterMs,
    honoursIdempotencyKey,
    headers: requestHeaders(options.headers),
    agent: options.agent,
    userAgent: options.userAgent,
    proxyEnv: options.proxyEnv,
    ca,
    bandwidth: options.bandwidth,
  };
}

/** @throws TypeError options are out of range */
export function checkOptions({ timeoutMs = 1, maxRetries = 0, maxRetryAfterMs = 0 }: RequestOptions): void {
  requireWithin('timeoutMs', timeoutMs, [1, longestTimerMs]);
  requireWithin('maxRetries', maxRetries, [0, mostRetries]);
  requireWithin('maxRetryAfterMs', maxRetryAfterMs, [0, longestRetryAfterMs]);
}

/** @throws TypeError the value is not a whole number within the bounds */
export function requireWithin(name: string, value: number, [least, most]: readonly [number, number]): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new TypeError(`${name} must be a whole number from ${least} to ${most}, not ${String(value)}`);
}

function baseOf(text: string): string {
  const url = requireSafe('baseUrl', text);
  if (url.search !== '' || url.hash !== '') throw new TypeError('baseUrl must not have a query or a fragment');
  return url.href.replace(/\/+$/, '');
}

function originOfUploads(text: string): string {
  const url = requireSafe('sendKeyTo', text);
  if (url.href !== `${url.origin}/`) throw new TypeError('sendKeyTo takes origins, without a path');
  return url.origin;
}

/** Parses and checks an address. Error messages omit the address, which may contain a password. */
function requireSafe(name: string, text: string): URL {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw new TypeError(`${name} is not a web address`);
  if (url.username !== '' || url.password !== '')
    throw new TypeError(`${name} must not contain a user name or password`);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url;
  throw new TypeError(
    `${name} must start with https://; http:// is allowed for this machine only (api-spec section 5)`,
  );
}

function secretOf(key: string): Secret {
  if (typeof key !== 'string' || key === '') throw new TypeError('apiKey is empty');
  return { reveal: () => key };
}

function requireCertificate(pem: string): void {
  try {
    void new X509Certificate(pem);
  } catch {
    throw new TypeError('ca is not a certificate in PEM form');
  }
}
