import type { Config } from '../config/config.ts';
import { hostView, isAtWork } from '../view/hosts/host-view.ts';
import { openLedgerToRead } from '../daemon/state/ledger-to-read.ts';
import type { LedgerPlace, LedgerToRead } from '../daemon/state/ledger-to-read.ts';
import { basename, join } from 'node:path';
import { serviceOf } from '../config/installed-service.ts';
import { readSocketPath } from '../config/paths.ts';
import type { ConfigPaths } from '../config/paths.ts';
import {
  callDaemon,
  ControlError,
  NotAllowedError,
  NotRunningError,
  streamFromDaemon,
} from '../daemon/control/client.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError, LedgerInUseError } from '../ledger/ledger-error.ts';
import { LedgerUnavailableError } from '../pipeline/file/store-errors.ts';
import { escapeControls } from '../log/unsafe-characters.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

/** Where to find a daemon's socket, and its ledger if the daemon is down. */
export type DaemonPlace = Pick<Config, 'file' | 'failureLog'> &
  LedgerPlace & { readonly status: Pick<Config['status'], 'socket'> };

/** The place that an unreadable configuration names. Only its running daemon knows the ledger and the folders. */
export function placeOf(paths: Pick<ConfigPaths, 'file' | 'stateDir' | 'failureLog' | 'socket'>): DaemonPlace {
  const { file, stateDir, failureLog, socket } = paths;
  return { ledger: null, hostName: '', folders: [], file, stateDir, failureLog, status: { socket } };
}

/**
 * Queries the running daemon. If it is down, reads its ledger instead and reports that on stderr.
 *
 * @param shell null to stay silent
 * @param path on the control socket
 * @param read answers from the ledger alone; receives null if there is no ledger yet
 * @throws {CommandError} when neither the daemon nor the ledger can answer
 */
export async function queryDaemonOrLedger<T>(
  shell: Pick<Shell, 'stderr'> | null,
  config: DaemonPlace,
  path: string,
  read: (ledger: LedgerToRead | null) => Promise<T>,
): Promise<T> {
  return queryRunningDaemon<T>(config, path).catch((error: unknown) => readLedgerInstead(shell, config, error, read));
}

/**
 * Reads the ledger of a daemon that is down, and reports that on stderr.
 *
 * @param error why the daemon did not answer, raw or explained
 * @throws {CommandError} when the daemon is running, or the ledger cannot answer
 */
export async function readLedgerInstead<T>(
  shell: Pick<Shell, 'stderr'> | null,
  config: DaemonPlace,
  error: unknown,
  read: (ledger: LedgerToRead | null) => Promise<T>,
): Promise<T> {
  const why = error instanceof CommandError ? error.cause : error;
  // A group member may not read the state directory, which contains the ledger.
  if (!(why instanceof NotRunningError) || why.cause instanceof NotAllowedError) throw explain(error);
  return inLedgerToRead(config, (ledger) => {
    shell?.stderr.write(`${whoAnswers(ledger)}\n`);
    return read(ledger);
  });
}

/**
 * Streams the running daemon's output line by line. If the daemon is down, produces the output from its ledger.
 *
 * @param make receives null if there is no ledger yet
 * @throws {CommandError} when neither the daemon nor the ledger can answer
 */
export async function streamDaemonOrLedger(
  shell: Pick<Shell, 'stderr'>,
  config: DaemonPlace,
  asked: { readonly path: string; readonly body: unknown; read(line: unknown): void },
  make: (ledger: LedgerToRead | null) => Promise<void>,
): Promise<void> {
  await streamFromDaemon(config.status.socket, asked, asked.read).catch((error: unknown) =>
    readLedgerInstead(shell, config, error, make),
  );
}

async function inLedgerToRead<T>(config: DaemonPlace, read: (ledger: LedgerToRead | null) => Promise<T>): Promise<T> {
  try {
    await using ledger = await openLedgerToRead(config);
    return await read(ledger);
  } catch (error) {
    throw explainWithoutDaemon(config, error);
  }
}

/**
 * Queries the running daemon.
 *
 * @throws {CommandError} with exit code 3 when it is not running
 */
export async function queryRunningDaemon<T>(config: DaemonPlace, path: string): Promise<T> {
  return anywhere(config, (socket) => callDaemon<T>(socket, 'GET', path)).catch(throwExplained);
}

/**
 * Streams lines from the running daemon until the signal fires or the daemon ends the stream.
 *
 * @throws {CommandError} with exit code 3 when it is not running
 */
export async function streamRunningDaemon(
  config: DaemonPlace,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
  onLine: (line: unknown) => void,
): Promise<void> {
  let isBegun = false;
  const read = (line: unknown): void => {
    isBegun = true;
    onLine(line);
  };
  await anywhere(config, (socket) => streamFromDaemon(socket, { path, signal }, read)).catch((error: unknown) => {
    const isEnd = signal.aborted || (isBegun && error instanceof ControlError);
    if (!isEnd) throw explain(error);
  });
}

/**
 * Calls `ask` with the control socket, or with the read socket, which group members may use.
 *
 * @throws {NotRunningError} with a `NotAllowedError` as its cause when this user may not read the state directory
 *   either
 * @throws {NotAllowedError} when this user may use neither socket
 */
export async function anywhere<T>(config: DaemonPlace, ask: (socket: string) => Promise<T>): Promise<T> {
  let refusal: NotAllowedError | null = null;
  let isLastOpen = false;
  for (const socket of socketsOf(config)) {
    try {
      return await ask(socket);
    } catch (error) {
      isLastOpen = error instanceof NotRunningError;
      if (error instanceof NotAllowedError) refusal ??= error;
      else if (refusal === null || !isLastOpen) throw error;
    }
  }
  if (serviceOf(config.file) === null && refusal !== null) throw refusal;
  // Any user can see that a service's runtime directory is missing: systemd removes it when the service stops.
  if (isLastOpen) throw new NotRunningError('the daemon is not running', { cause: refusal });
  // The first refusal is reported because it names the configured socket.
  throw new NotAllowedError(`${refusal?.message}, or ask for membership in the group dropcast`, { cause: refusal });
}

/**
 * The sockets to try, in order. A group member may not read the state directory, which contains the link to an
 * installed service's socket, so the runtime directory is tried as well.
 */
function socketsOf(config: DaemonPlace): readonly string[] {
  const { socket } = config.status;
  const service = serviceOf(config.file);
  return [
    socket,
    readSocketPath(socket),
    ...(service === null ? [] : [readSocketPath(join(service.runtimeDir, basename(socket)))]),
  ];
}

function whoAnswers(ledger: LedgerToRead | null): string {
  if (ledger === null) return 'The daemon is not running. No history yet.';
  const { fleet } = ledger;
  if (fleet === null) return 'The daemon is not running. Reading its ledger.';
  const hosts = fleet.known().map((host) => `${host.name} ${hostView(host, fleet.self).state}`);
  return escapeControls(
    `The daemon of this host (${fleet.self}) is not running. Reading the ledger of the fleet: ${hosts.join(', ')}.`,
  );
}

/** Names both causes: PostgreSQL was only queried because no daemon is running. */
function explainWithoutDaemon({ ledger }: DaemonPlace, error: unknown): unknown {
  if (ledger === null || !isLedgerAway(error)) return explain(error);
  const message = `the daemon of this host is not running, and ${error.message}`;
  return new CommandError(message, exitCodes.failed, { cause: error });
}

/**
 * Sends a command to the running daemon.
 *
 * @throws {CommandError} with exit code 3 when it is not running
 */
export async function commandDaemon<T>(config: DaemonPlace, path: string, body: unknown): Promise<T> {
  return callDaemon<T>(config.status.socket, 'POST', path, body).catch(throwExplained);
}

/**
 * Sends a command that also works without a daemon.
 *
 * @param otherwise called if no daemon is running
 */
export async function commandDaemonOr<T>(
  config: DaemonPlace,
  { path, body }: { readonly path: string; readonly body: unknown },
  otherwise: () => Promise<T>,
): Promise<T> {
  return callDaemon<T>(config.status.socket, 'POST', path, body).catch((error: unknown) =>
    error instanceof NotRunningError ? otherwise() : throwExplained(error),
  );
}

/**
 * Works directly on the ledger, for commands that need no daemon.
 *
 * @throws {CommandError} when the ledger cannot be used, or is shared with other hosts
 */
export async function withLedger<T>(config: Config, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  await requireSingleHost(config);
  const { openLedger } = await import('../ledger/ledger.ts');
  try {
    await using ledger = await openLedger(config.stateDir);
    return await work(ledger);
  } catch (error) {
    throw explain(error);
  }
}

/**
 * Refuses to change a ledger that several hosts share. Only a daemon may, because a command does not know what the
 * other hosts are doing.
 *
 * @throws {CommandError} naming the hosts on which the command can be given
 */
export async function requireSingleHost(config: DaemonPlace): Promise<void> {
  if (config.ledger === null) return;
  const others = await inLedgerToRead(config, async (ledger) => {
    const hosts = ledger?.fleet?.known() ?? [];
    return hosts.filter((host) => isAtWork(host) && host.name !== config.hostName).map(({ name }) => name);
  });
  const there = others.length === 0 ? '' : `run this command on ${others.join(' or ')}, or `;
  throw new CommandError(
    `the daemon of this host is not running, and other hosts share its ledger: ${there}start dropcast here`,
    exitCodes.notRunning,
  );
}

function throwExplained(error: unknown): never {
  throw explain(error);
}

/** Converts an error to a message and exit code. Bugs are returned unchanged. */
export function explain(error: unknown): unknown {
  const as = (message: string, exitCode: number = exitCodes.failed) =>
    new CommandError(message, exitCode, { cause: error });
  if (error instanceof NotRunningError)
    return as(
      'the daemon is not running: start it with `dropcast run` or `systemctl start dropcast`',
      exitCodes.notRunning,
    );
  if (error instanceof LedgerInUseError)
    return as('another dropcast is using the ledger (a daemon that is starting, or `dropcast once`): try again later');
  return error instanceof ControlError || isLedgerAway(error) ? as(error.message) : error;
}

function isLedgerAway(error: unknown): error is Error {
  return error instanceof LedgerError || error instanceof LedgerUnavailableError;
}
