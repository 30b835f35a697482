import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The right of a visitor on the page. */
export type Right = 'look' | 'change';

/** How long a link works, milliseconds: long enough to copy it into a browser. */
const LINK_MS = 5 * 60_000;

/** Links of one right that no one has opened. The oldest stops working when there are more. */
const MOST_LINKS = 100;

/** Who may see the page, and change things: programs send the token, browsers a cookie that they get from a link. */
export interface PageAccess {
  /** A code that opens the page once. */
  makeCode(right: Right): string;
  /** Takes a code, and returns the cookie's value; null for an unknown, used or old code. */
  redeem(code: string): string | null;
  /**
   * @param cookie its value; null without one
   * @returns null for a visitor who may not even look
   */
  rightOf(authorization: string | null, cookie: string | null): Right | null;
}

/**
 * @param token of the daemon
 * @param now a clock that never jumps, milliseconds
 */
export function createPageAccess(token: string, now: () => number = () => performance.now()): PageAccess {
  const sessions: Readonly<Record<Right, string>> = {
    look: sessionOf(token, 'look'),
    change: sessionOf(token, 'change'),
  };
  /**
   * When codes stop working, by their digests. Each right has its own, since every member of the group may make links
   * for looking: those push out no link for changing.
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
      const [, given = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
      if (isSame(given, token) || isSame(cookie ?? '', sessions.change)) return 'change';
      return isSame(cookie ?? '', sessions.look) ? 'look' : null;
    },
  };
}

/** Not the token itself: browsers send a cookie to every port of a host, whatever listens there. */
function sessionOf(token: string, right: Right): string {
  return createHmac('sha256', token).update(`page: ${right}`).digest('base64url');
}

/** Takes the same time whatever the difference: digests have the same length. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
