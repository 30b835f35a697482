import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The token of the metrics: it opens `/metrics` and nothing else, so that a collector can neither read file names nor
 * change anything, as the token of the page can.
 *
 * @throws {PageTokenError} its file contains something else
 * @throws what the system says
 */
export function metricsToken(stateDir: string): Promise<string> {
  return tokenAt(join(stateDir, 'metrics-token'));
}

/** Whether a request presents that token. */
export function showsToken(authorization: string | null, token: string): boolean {
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  // Digests have the same length, so it takes the same time whatever the difference.
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Thrown when the file of the token contains something else. */
export class PageTokenError extends Error {
  override readonly name = 'PageTokenError';
}

/** Where the token of the status page is: in the state directory, for its user alone. */
function pageTokenPath(stateDir: string): string {
  return join(stateDir, 'page-token');
}

/**
 * Reads the token of the status page, and makes it when there is none. It stays the same after a restart, because
 * proxies and scripts have it.
 *
 * @throws {PageTokenError} the file contains no token
 * @throws what the system says
 */
export function pageToken(stateDir: string): Promise<string> {
  return tokenAt(pageTokenPath(stateDir));
}

/** The token in a file, which is made when there is none. @throws as `pageToken` */
async function tokenAt(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const text = (await file.readFile('utf8')).trim();
  if (/^[\w-]{32,200}$/.test(text)) return text;
  if (text !== '') throw new PageTokenError(`${path} contains no token: delete it, and the daemon creates a new one`);
  const token = randomBytes(32).toString('base64url');
  await file.write(`${token}\n`, 0);
  await file.sync();
  return token;
}
