import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** How long a link works, milliseconds: long enough to copy it into a browser. */
const LINK_MS = 5 * 60_000;

/** Links that nobody opened. The oldest stops working when there are more. */
const MOST_LINKS = 100;

/** Who may see the page: programs send the token, browsers a cookie that they get from a link. */
export interface PageAccess {
  /** A code that opens the page once. */
  makeCode(): string;
  /** Takes a code, and returns the cookie's value; null for an unknown, used or old code. */
  redeem(code: string): string | null;
  /** @param cookie its value; null without one */
  isAllowed(authorization: string | null, cookie: string | null): boolean;
}

/**
 * @param token of the daemon
 * @param now a clock that never jumps, milliseconds
 */
export function createPageAccess(token: string, now: () => number = () => performance.now()): PageAccess {
  // Not the token itself: browsers send a cookie to every port of a host, and to whoever listens there.
  const session = createHmac('sha256', token).update('status page').digest('base64url');
  /** Digests of codes, and until when they work. */
  const codes = new Map<string, number>();
  return {
    makeCode: () => {
      const code = randomBytes(24).toString('base64url');
      codes.set(digest(code).toString('hex'), now() + LINK_MS);
      const [oldest] = codes.keys();
      if (codes.size > MOST_LINKS && oldest !== undefined) codes.delete(oldest);
      return code;
    },
    redeem: (code) => {
      const key = digest(code).toString('hex');
      const until = codes.get(key) ?? -Infinity;
      codes.delete(key);
      return now() < until ? session : null;
    },
    isAllowed: (authorization, cookie) => {
      const [, given = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
      return isSame(given, token) || isSame(cookie ?? '', session);
    },
  };
}

/** Takes the same time whatever the difference: digests have the same length. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
