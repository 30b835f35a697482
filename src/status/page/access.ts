import { createHmac, randomBytes } from 'node:crypto';
import { digest, isSame, showsToken } from '../tokens.ts';

/** A visitor's right on the page. */
export type Right = 'look' | 'change';

/** How long a link works, in milliseconds: long enough to copy it into a browser. */
const LINK_MS = 5 * 60_000;

/** Maximum number of unopened links per right. Beyond it, the oldest stops working. */
const MOST_LINKS = 100;

/**
 * Decides who may see the page and change things. Programs send the token; browsers send a cookie that they get from a
 * link.
 */
export interface PageAccess {
  /** Returns a single-use code that opens the page. */
  makeCode(right: Right): string;
  /** Uses up a code and returns the cookie's value; null for an unknown, used or expired code. */
  redeem(code: string): string | null;
  /**
   * @param cookie the cookie's value; null without one
   * @returns null for a visitor without any right
   */
  rightOf(authorization: string | null, cookie: string | null): Right | null;
}

/**
 * @param token the daemon's token
 * @param now a monotonic clock, in milliseconds
 */
export function createPageAccess(token: string, now: () => number = () => performance.now()): PageAccess {
  const sessions: Readonly<Record<Right, string>> = {
    look: sessionOf(token, 'look'),
    change: sessionOf(token, 'change'),
  };
  /**
   * Expiry times of codes, keyed by digest. Each right has its own map: any group member may create links for looking,
   * and these must not displace links for changing.
   */
  const codes: Readonly<Record<Right, Map<string, number>>> = { look: new Map(), change: new Map() };
  return {
    makeCode: (right) => {
      const code = randomBytes(24).toString('base64url');
      const ofRight = codes[right];
      ofRight.set(digest(code).toString('hex'), now() + LINK_MS);
      const [oldest] = ofRight.keys();
      if (ofRight.size > MOST_LINKS && oldest !== undefined) ofRight.delete(oldest);
      return code;
    },
    redeem: (code) => {
      const key = digest(code).toString('hex');
      const right = codes.change.has(key) ? 'change' : 'look';
      const until = codes[right].get(key);
      codes[right].delete(key);
      return until !== undefined && now() < until ? sessions[right] : null;
    },
    rightOf: (authorization, cookie) => {
      if (showsToken(authorization, token) || isSame(cookie ?? '', sessions.change)) return 'change';
      return isSame(cookie ?? '', sessions.look) ? 'look' : null;
    },
  };
}

/** Derives the cookie's value. It is not the token itself, because browsers send a cookie to every port of a host. */
function sessionOf(token: string, right: Right): string {
  return createHmac('sha256', token).update(`page: ${right}`).digest('base64url');
}
