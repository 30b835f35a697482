import { chmod, lstat, realpath, symlink, unlink } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { Facts } from '../pipeline/facts.ts';
import { stateOf } from '../pipeline/facts.ts';
import type { Daemon } from './daemon.ts';
import { filesOf, liveView, showOf, statusOf } from './view.ts';

/** Thrown when the control socket cannot be made where the configuration wants it. */
export class ControlSocketError extends Error {
  override readonly name = 'ControlSocketError';
}

/** What a retry did with each file. */
export interface RetryResult {
  readonly v: 1;
  readonly retried: readonly string[];
  readonly refused: readonly { readonly name: string; readonly why: string }[];
}

/**
 * The control socket: HTTP over a unix socket that only the daemon's own user may open (mode 0600).
 *
 * @param reload reads and checks the configuration again; its result says what became of it
 * @throws when the socket cannot be made
 */
export async function serveControl(
  daemon: Daemon,
  socketPath: string,
  reload: () => Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>,
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
 * `auto` is a place in `$RUNTIME_DIRECTORY`, which systemd sets for the service but not for the shell of an operator. There it
 * is the state directory, where this link then leads on.
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

function createControl(daemon: Daemon, reload: Parameters<typeof serveControl>[2]): Hono {
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
    const found = await ledger.find(context.req.query('name') ?? '');
    return context.json({ v: 1, found: await Promise.all(found.map((facts) => showOf(ledger, daemon, facts))) });
  });
  app.post('/retry', async (context) => {
    const wanted = await context.req.json<Wanted>();
    return context.json(await retry(daemon, wanted));
  });
  app.post('/add', async (context) => {
    const { path } = await context.req.json<{ path: string }>();
    const result = await daemon.add(path);
    if (!result.ok) return context.json({ v: 1, ok: false, why: result.why });
    const [facts] = await ledger.find(path);
    return context.json({ v: 1, ok: true, as: result.as, file: facts === undefined ? null : liveView(daemon, facts) });
  });
  app.post('/reload', async (context) => context.json({ v: 1, ...(await reload()) }));
  return app;
}

/** Which files to retry: by name, and all in some states. */
interface Wanted {
  readonly names: readonly string[];
  readonly states: readonly string[];
}

async function retry(daemon: Daemon, { names, states }: Wanted): Promise<RetryResult> {
  const retried: string[] = [];
  const refused: { name: string; why: string }[] = [];
  const attempt = async (name: string, facts: Facts): Promise<void> => {
    const why = whyNoRetry(facts) ?? (await rearm(daemon, facts.id));
    if (why === null) retried.push(facts.id);
    else refused.push({ name, why });
  };
  for (const facts of states.length === 0 ? [] : await daemon.ledger.list({ states, limit: 100_000 })) {
    if (whyNoRetry(facts) === null) await attempt(facts.id, facts);
  }
  for (const name of names) {
    const found = await daemon.ledger.find(name);
    const [facts] = found;
    if (facts === undefined) refused.push({ name, why: 'no such file is known' });
    else if (found.length > 1)
      refused.push({ name, why: `${found.length} files are called so or have an id that begins with it` });
    else await attempt(name, facts);
  }
  daemon.conductor.probeNow();
  return { v: 1, retried, refused };
}

/** What failed a moment ago may still be held by the step that writes it down: worth a second. */
async function rearm({ conductor }: Daemon, id: string): Promise<string | null> {
  for (let tries = 0; tries < 20; tries += 1) {
    const applied = await conductor.apply(id, { type: 'RETRY' });
    if (applied === 'applied') return null;
    if (applied === 'ignored') return 'its state changed just now: nothing to retry';
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return 'it is being worked on';
}

function whyNoRetry(facts: Facts): string | null {
  const state = stateOf(facts);
  if (state === 'held' && facts.plan === null)
    return `${facts.why ?? 'held'}: change the rules or the sidecar, it goes on by itself`;
  if (['failed', 'held', 'retrying', 'skipped'].includes(state)) return null;
  return `it is ${state}: nothing to retry`;
}

/** A socket file that nobody listens on is left from a daemon that was killed. */
async function removeStale(path: string): Promise<void> {
  const isAlive = await new Promise<boolean>((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
  if (isAlive) throw new ControlSocketError(`another process listens on ${path}`);
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  if (!found.isSocket())
    throw new ControlSocketError(`${path} is there already, and no socket: set status.socket to another place`);
  await unlink(path);
}
