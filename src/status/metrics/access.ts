import { createHash, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { tokenAt } from '../page/token.ts';

/**
 * The token of the numbers: it opens `/metrics` and nothing else, so a machine that collects numbers neither reads file names nor changes
 * anything, as the token of the page can.
 *
 * @throws {PageTokenError} its file contains something else
 * @throws what the system says
 */
export function metricsToken(stateDir: string): Promise<string> {
  return tokenAt(join(stateDir, 'metrics-token'));
}

/** Whether a request shows that token. */
export function showsToken(authorization: string | null, token: string): boolean {
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  // Digests have the same length, so it takes the same time whatever the difference.
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
