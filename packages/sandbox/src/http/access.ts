import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import type { ApiKey } from '../store/keys.ts';
import type { Services } from '../services.ts';
import { ApiError } from './api-error.ts';
import type { Switches } from '../profiles/switch-table.ts';
import type { Standing } from '../store/request-window.ts';

/**
 * Checks the key first and the rate limit second, before everything else (api-spec sections 5 and 8): a client without
 * a key learns nothing about paths, and every authenticated request counts, even a failed one.
 */
export function requireAccess(
  services: Pick<Services, 'records' | 'requestWindow' | 'clock' | 'journal' | 'switchboard'>,
): MiddlewareHandler<{ Bindings: HttpBindings }> {
  const { records, requestWindow, clock, journal, switchboard } = services;
  return async ({ req, env: { incoming, outgoing } }, next) => {
    const key = requireKey(records.keys.find(bearerToken(req.header('authorization')) ?? ''));
    const nowMs = clock.nowMs();
    journal.noteKey(outgoing, key.id);
    records.keys.noteUse(key.id, nowMs, incoming.socket.remoteAddress ?? null);
    const switches = switchboard.now;
    const isBurst = switches.rate_limit === 'burst';
    const admission = requestWindow.admit(key.id, nowMs, isBurst);
    if (switches.rate_limit_headers !== 'none') {
      const headers = rateLimitHeaders(requestWindow.standing(key.id, nowMs, isBurst), switches, nowMs);
      for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
    }
    if (!admission.admitted) throw rateLimited(admission.retryAfterS);
    requirePermission(key, req.method);
    await next();
  };
}

/** Returns the key of a bearer header. The scheme is case-insensitive (RFC 9110 section 11.1). */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
}

type Grant = Pick<ApiKey, 'id' | 'isReadOnly'>;

function requireKey(key: Grant | undefined): Grant {
  if (key) return key;
  throw new ApiError('unauthorized', 'The API key is missing, invalid or revoked.', { 'WWW-Authenticate': 'Bearer' });
}

/**
 * assumed: a key may be read-only. The specification does not show why a key gets `forbidden` (api-spec section 5, rule
 * 8).
 */
function requirePermission({ isReadOnly }: Grant, method: string): void {
  if (!isReadOnly || READING.has(method)) return;
  throw new ApiError('forbidden', 'This API key is read-only.');
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

function rateLimited(retryAfterS: number): ApiError {
  const message = `This key has used all its requests for now. Try again in ${retryAfterS} s.`;
  return new ApiError('rate_limited', message, { 'Retry-After': String(retryAfterS) });
}

/** Returns the headers that report what is left of the limits, in the form that the switch selects. Pure. */
function rateLimitHeaders(
  standing: readonly Standing[],
  { rate_limit_headers: form }: Pick<Switches, 'rate_limit_headers'>,
  nowMs: number,
): Readonly<Record<string, string>> {
  // The older forms report only one limit.
  const shortest = standing.at(-1);
  if (form === 'none' || shortest === undefined) return {};
  return forms[form](shortest, nowMs, standing);
}

type Form = (shortest: Standing, nowMs: number, all: readonly Standing[]) => Readonly<Record<string, string>>;

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** The limit, what is left and the reset as three headers. */
const three =
  (prefix: string, reset: (ms: number, nowMs: number) => string): Form =>
  ({ requests, left, resetMs }, nowMs) => ({
    [`${prefix}-Limit`]: String(requests),
    [`${prefix}-Remaining`]: String(left),
    [`${prefix}-Reset`]: reset(resetMs, nowMs),
    // Times of day are those of the sandbox's clock.
    Date: new Date(nowMs).toUTCString(),
  });

const endOf = (ms: number, nowMs: number): number => Math.ceil((nowMs + ms) / 1000);

const forms: Readonly<Record<Exclude<Switches['rate_limit_headers'], 'none'>, Form>> = {
  draft: (_, __, all) => ({
    'RateLimit-Policy': all.map((each) => `${name(each)};q=${each.requests};w=${each.windowMs / 1000}`).join(', '),
    RateLimit: all.map((each) => `${name(each)};r=${each.left};t=${seconds(each.resetMs)}`).join(', '),
  }),
  dictionary: ({ requests, left, resetMs, windowMs }) => ({
    'RateLimit-Policy': `${requests};w=${windowMs / 1000}`,
    RateLimit: `limit=${requests}, remaining=${left}, reset=${seconds(resetMs)}`,
  }),
  seconds: three('RateLimit', (ms) => String(seconds(ms))),
  epoch: three('X-RateLimit', (ms, nowMs) => String(endOf(ms, nowMs))),
  epoch_ms: three('X-RateLimit', (ms, nowMs) => String(Math.ceil(nowMs + ms))),
  date: three('X-RateLimit', (ms, nowMs) => new Date(endOf(ms, nowMs) * 1000).toISOString()),
  window_ms: ({ requests, left, windowMs }) => ({
    'X-RateLimit-Limit': String(requests),
    'X-RateLimit-Remaining': String(left),
    'X-RateLimit-Window': String(windowMs),
  }),
};

function name({ windowMs }: Standing): string {
  return windowMs === 3_600_000 ? '"hour"' : '"burst"';
}
