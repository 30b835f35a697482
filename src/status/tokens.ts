import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Returns the metrics token. It opens only `/metrics`, so a collector can neither read file names nor change anything,
 * unlike with the page's token.
 *
 * @throws {PageTokenError} the token's file contains something else
 * @throws file system errors
 */
export function metricsToken(stateDir: string): Promise<string> {
  return tokenAt(join(stateDir, 'metrics-token'));
}

/** Whether a request presents the token. */
export function showsToken(authorization: string | null, token: string): boolean {
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  return isSame(given, token);
}

/** Compares in constant time. Digests give both values the same length. */
export function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Thrown when the token's file contains something else. */
export class PageTokenError extends Error {
  override readonly name = 'PageTokenError';
}

/**
 * Reads the status page's token, or creates it if there is none. It survives restarts, because proxies and scripts use
 * it.
 *
 * @throws {PageTokenError} the file contains no token
 * @throws file system errors
 */
export function pageToken(stateDir: string): Promise<string> {
  return tokenAt(join(stateDir, 'page-token'));
}

/** Reads the token in a file, or creates it if there is none. @throws as `pageToken` */
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
