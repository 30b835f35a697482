import type { MiddlewareHandler } from 'hono';
import type { KeyStore } from '../store/keys.ts';
import type { RequestWindow } from '../store/request-window.ts';
import { ApiError } from './api-error.ts';

/**
 * Key first, rate limit second, everything else afterwards (api-spec sections 5 and 8): a stranger learns
 * nothing about paths, and every authenticated request counts, failed ones included.
 */
export function requireAccess(keys: KeyStore, requests: RequestWindow, nowMs: () => number): MiddlewareHandler {
  return async (context, next) => {
    const key = bearerToken(context.req.header('authorization'));
    const keyId = key === undefined ? undefined : keys.find(key);
    if (keyId === undefined)
      throw new ApiError('unauthorized', 'The API key is missing, invalid or revoked.', {
        'WWW-Authenticate': 'Bearer',
      });
    const admission = requests.admit(keyId, nowMs());
    if (!admission.admitted) throw rateLimited(admission.retryAfterS);
    await next();
  };
}

/** The scheme is case-insensitive (RFC 9110 section 11.1). */
function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
}

function rateLimited(retryAfterS: number): ApiError {
  const message = `This key has used up its requests of the last hour. Try again in ${retryAfterS} s.`;
  return new ApiError('rate_limited', message, { 'Retry-After': String(retryAfterS) });
}
