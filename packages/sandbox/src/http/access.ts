import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import type { ApiKey } from '../store/keys.ts';
import type { Services } from '../services.ts';
import { ApiError } from './api-error.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';

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
