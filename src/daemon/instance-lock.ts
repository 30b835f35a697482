import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { makeStateDirectory } from '../ledger/state-directory.ts';

/** Thrown when another dropcast uses the same state directory. */
export class AlreadyRunningError extends Error {
  override readonly name = 'AlreadyRunningError';
}

/**
 * One daemon per state directory, by a lock that the kernel releases when the process dies: an abstract unix socket. The
 * ledger's own exclusive lock is the second one, for containers that share the directory but not the network namespace.
 *
 * On systems without abstract sockets only the ledger's lock holds.
 *
 * @throws {AlreadyRunningError} @throws {LedgerError}
 */
export async function lockInstance(stateDir: string): Promise<AsyncDisposable> {
  await makeStateDirectory(stateDir);
  if (process.platform !== 'linux') return { [Symbol.asyncDispose]: () => Promise.resolve() };
  const name = await nameOf(stateDir);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isHeld = error.code === 'EADDRINUSE';
      reject(isHeld ? new AlreadyRunningError(`another dropcast already uses the state directory ${stateDir}`) : error);
    });
    server.listen(name, resolve);
  });
  server.unref();
  return {
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/** Whether a dropcast uses the state directory; false also where that cannot be known. */
export async function isInstanceRunning(stateDir: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const name = await nameOf(stateDir).catch(() => null);
  if (name === null) return false;
  return new Promise((resolve) => {
    const socket = createConnection(name);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function nameOf(stateDir: string): Promise<string> {
  const hash = createHash('sha256').update(await realpath(stateDir));
  return `\0dropcast-${hash.digest('hex').slice(0, 32)}`;
}
