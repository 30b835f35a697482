import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Thrown when the file of the token contains something else. */
export class PageTokenError extends Error {
  override readonly name = 'PageTokenError';
}

/** Where the token of the status page is: in the state directory, for its user alone. */
export function pageTokenPath(stateDir: string): string {
  return join(stateDir, 'page-token');
}

/**
 * Reads the token of the status page, and makes it when there is none. It stays the same after a restart, because proxies and scripts
 * have it.
 *
 * @throws {PageTokenError} the file contains no token
 * @throws what the system says
 */
export function pageToken(stateDir: string): Promise<string> {
  return tokenAt(pageTokenPath(stateDir));
}

/** The token in a file, which is made when there is none. @throws as `pageToken` */
export async function tokenAt(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const text = (await file.readFile('utf8')).trim();
  if (/^[\w-]{32,200}$/.test(text)) return text;
  if (text !== '') throw new PageTokenError(`${path} contains no token: delete it, and the daemon makes another one`);
  const token = randomBytes(32).toString('base64url');
  await file.write(`${token}\n`, 0);
  await file.sync();
  return token;
}
