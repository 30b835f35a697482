import { lstat, realpath, symlink, unlink } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readSocketPath } from '../../config/paths.ts';
import { serveHttp } from '../../http/serve.ts';
import type { HttpLimits, HttpServer, ListenAddress } from '../../http/serve.ts';
import { controlRoutes, readRoutes } from './routes.ts';
import type { ControlPorts } from './routes.ts';
import type { Daemon } from '../daemon.ts';

/** Thrown when a control socket cannot be created at the configured path. */
export class ControlSocketError extends Error {
  override readonly name = 'ControlSocketError';
}

/**
 * Opens the control sockets: HTTP over Unix sockets, whose modes decide who may connect. One is for the daemon's own
 * user (0600) and accepts every command. The other, next to it, also admits its group (0660) and is read-only. Each has
 * its own limits, so that group members cannot lock out the operator. Responses on the first may be of any size,
 * because `ls` lists up to a million files there.
 *
 * @throws {ControlSocketError} a socket cannot be created
 */
export async function serveControl(daemon: Daemon, socketPath: string, ports: ControlPorts): Promise<AsyncDisposable> {
  await using making = new AsyncDisposableStack();
  making.use(
    await open(controlRoutes(daemon, ports).fetch, { path: socketPath, mode: 0o600 }, { unreadBytes: Infinity }),
  );
  const readers = readSocketPath(socketPath);
  making.use(await open(inTurn(readRoutes(daemon, ports).fetch), { path: readers, mode: 0o660 }));
  making.defer(await linkFromStateDir(daemon.config().stateDir, socketPath));
  return making.move();
}

type Fetch = Parameters<typeof serveHttp>[0];

/** Longest rest between two member requests, in milliseconds. */
const MOST_REST_MS = 1_000;

/**
 * Handles requests one at a time, so that many members together need only the memory of the largest request. After each
 * response, the socket rests for as long as the response took. Members who send requests endlessly thus leave half of
 * the time to the rest of the daemon.
 */
function inTurn(fetch: Fetch): Fetch {
  let rested: Promise<unknown> = Promise.resolve();
  return (request) => {
    let begunAt = 0;
    const answer = rested.then(() => {
      begunAt = performance.now();
      return request.signal.aborted ? new Response(null) : fetch(request);
    });
    const rest = (): Promise<void> => setTimeout(Math.min(performance.now() - begunAt, MOST_REST_MS));
    rested = answer.then(rest, rest);
    return answer;
  };
}

async function open(
  fetch: Fetch,
  place: ListenAddress & { path: string },
  limits: Partial<HttpLimits> = {},
): Promise<HttpServer> {
  await removeStale(place.path);
  try {
    return await serveHttp(fetch, place, limits);
  } catch (error) {
    throw new ControlSocketError(`${place.path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/**
 * Links the state directory to the socket. `auto` is a path in `$RUNTIME_DIRECTORY`, which systemd sets for the service
 * but not for an operator's shell. The CLI looks in the state directory and follows this link.
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

/** Removes a socket file left behind by a killed daemon. */
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
