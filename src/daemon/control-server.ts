import { chmod, lstat, realpath, symlink, unlink } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { Daemon } from './daemon.ts';
import { retry } from './retry.ts';
import type { Wanted } from './retry.ts';
import { viewOf } from './file-view.ts';
import { dismiss, suspectsOf } from './suspects.ts';
import { filesOf, foundOf, statusOf } from './view.ts';

/** Thrown when the control socket cannot be created where the configuration puts it. */
export class ControlSocketError extends Error {
  override readonly name = 'ControlSocketError';
}

/** Result of a reload. */
export interface Reloaded {
  /** False: the new configuration has errors, and the old one stays in use. */
  readonly ok: boolean;
  /** Errors if it failed, else warnings; one line each. */
  readonly problems: readonly string[];
  /** The file that the daemon reads. */
  readonly config: string;
}

/**
 * The control socket: HTTP over a unix socket that only the daemon's own user may open (mode 0600).
 *
 * @param reload reads, checks and applies the configuration
 * @throws {ControlSocketError} the socket cannot be created
 */
export async function serveControl(
  daemon: Daemon,
  socketPath: string,
  reload: () => Promise<Reloaded>,
): Promise<AsyncDisposable> {
  await removeStale(socketPath);
  const server = createAdaptorServer({ fetch: createControl(daemon, reload).fetch });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new ControlSocketError(`${socketPath}: ${error.message}`, { cause: error })),
    );
    // The mode is set by umask at birth: between listen and chmod nobody else gets in.
    const before = process.umask(0o177);
    server.listen(socketPath, resolve);
    process.umask(before);
  });
  await chmod(socketPath, 0o600);
  const forgetLink = await linkFromStateDir(daemon.config().stateDir, socketPath);
  return {
    [Symbol.asyncDispose]: async () => {
      await forgetLink();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
    },
  };
}

/**
 * Links the state directory to the socket. `auto` is a path in `$RUNTIME_DIRECTORY`, which systemd sets for the service but not for
 * an operator's shell; the shell looks in the state directory and follows this link.
 */
async function linkFromStateDir(stateDir: string, socketPath: string): Promise<() => Promise<void>> {
  const link = join(stateDir, basename(socketPath));
  if (link === socketPath) return () => Promise.resolve();
  const forget = async (): Promise<void> => {
    const found = await lstat(link).catch(() => null);
    if (found?.isSymbolicLink() === true || found?.isSocket() === true) await unlink(link);
  };
  if ((await realpath(stateDir)) === (await realpath(dirname(socketPath)))) return () => Promise.resolve();
  await forget();
  await symlink(socketPath, link);
  return forget;
}

function createControl(daemon: Daemon, reload: () => Promise<Reloaded>): Hono {
  const { ledger } = daemon;
  const app = new Hono();
  app.onError((error, context) => context.json({ error: { code: 'bug', message: error.message } }, 500));
  app.get('/status', async (context) => context.json(await statusOf(ledger, daemon)));
  app.get('/files', async (context) => {
    const states = context.req.query('states')?.split(',').filter(Boolean) ?? [];
    const limit = Number(context.req.query('limit') ?? 100);
    return context.json(await filesOf(ledger, daemon, { states, limit }));
  });
  app.get('/file', async (context) => {
    return context.json({ v: 1, found: await foundOf(ledger, daemon, context.req.query('name') ?? '') });
  });
  app.get('/suspects', async (context) => context.json(await suspectsOf(ledger, daemon)));
  app.post('/suspects/dismiss', async (context) => {
    return context.json(await dismiss(daemon, await context.req.json<{ names: string[] }>()));
  });
  app.post('/retry', async (context) => {
    return context.json(await retry(daemon, await context.req.json<Wanted>()));
  });
  app.post('/add', async (context) => {
    const { path } = await context.req.json<{ path: string }>();
    const result = await daemon.folders.add(path);
    if (!result.ok) return context.json({ v: 1, ok: false, why: result.why });
    const [facts] = await ledger.find(path);
    return context.json({ v: 1, ok: true, as: result.as, file: facts === undefined ? null : viewOf(daemon, facts) });
  });
  app.post('/reload', async (context) => context.json({ v: 1, ...(await reload()) }));
  return app;
}

/** Removes the socket file that a killed daemon left. */
async function removeStale(path: string): Promise<void> {
  const isAlive = await new Promise<boolean>((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
  if (isAlive) throw new ControlSocketError(`another process already listens on ${path}`);
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  if (!found.isSocket())
    throw new ControlSocketError(`${path} exists and is not a socket: set status.socket to another path`);
  await unlink(path);
}
