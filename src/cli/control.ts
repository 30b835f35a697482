import type { Config } from '../config/config.ts';
import { basename, join } from 'node:path';
import { serviceOf } from '../config/installed-service.ts';
import { readSocketPath } from '../config/paths.ts';
import {
  callDaemon,
  ControlError,
  NotAllowedError,
  NotRunningError,
  streamFromDaemon,
} from '../daemon/control/client.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError, LedgerInUseError } from '../ledger/ledger-error.ts';
import { isLedgerThere } from '../ledger/recovery.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

/** Where a daemon is reached, and its ledger when it is down. */
export type DaemonPlace = Pick<Config, 'file' | 'stateDir' | 'failureLog'> & {
  readonly status: Pick<Config['status'], 'socket'>;
};

/**
 * Queries the running daemon. When it is down, reads its ledger instead, and says so on stderr.
 *
 * @param shell null to stay silent
 * @param path on the control socket
 * @param read answers from the ledger alone; gets null when there is no ledger yet
 * @throws {CommandError} when the daemon or the ledger cannot answer
 */
export async function queryDaemonOrLedger<T>(
  shell: Pick<Shell, 'stderr'> | null,
  config: DaemonPlace,
  path: string,
  read: (ledger: Ledger | null) => Promise<T>,
): Promise<T> {
  try {
    return await look<T>(config, path);
  } catch (error) {
    if (!(error instanceof NotRunningError)) throw explain(error);
  }
  try {
    await using ledger = await openLedgerIfThere(config.stateDir);
    shell?.stderr.write(`The daemon is not running. ${ledger === null ? 'No history yet.' : 'Reading its ledger.'}\n`);
    return await read(ledger);
  } catch (error) {
    throw explain(error);
  }
}

/**
 * Asks the running daemon for what it makes line by line. When it is down, makes it from its ledger.
 *
 * @param make gets null when there is no ledger yet
 * @throws {CommandError} when the daemon or the ledger cannot answer
 */
export async function streamDaemonOrLedger(
  shell: Pick<Shell, 'stderr'>,
  config: DaemonPlace,
  asked: { readonly path: string; readonly body: unknown; read(line: unknown): void },
  make: (ledger: Ledger | null) => Promise<void>,
): Promise<void> {
  try {
    await streamFromDaemon(config.status.socket, asked, asked.read);
    return;
  } catch (error) {
    if (!(error instanceof NotRunningError)) throw explain(error);
  }
  try {
    await using ledger = await openLedgerIfThere(config.stateDir);
    shell.stderr.write('The daemon is not running.\n');
    await make(ledger);
  } catch (error) {
    throw explain(error);
  }
}

/** Queries the running daemon. @throws {CommandError} with exit code 3 when it is not running */
export async function queryRunningDaemon<T>(config: DaemonPlace, path: string): Promise<T> {
  try {
    return await look<T>(config, path);
  } catch (error) {
    throw explain(error);
  }
}

/**
 * Reads what the running daemon tells line by line, until the signal fires or the daemon ends it.
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
  try {
    await anywhere(config, (socket) => streamFromDaemon(socket, { path, signal }, read));
  } catch (error) {
    const isEnd = signal.aborted || (isBegun && error instanceof ControlError);
    if (!isEnd) throw explain(error);
  }
}

async function look<T>(config: DaemonPlace, path: string): Promise<T> {
  return anywhere(config, (socket) => callDaemon<T>(socket, 'GET', path));
}

/** Asks at the control socket, or where members of its group may ask. */
async function anywhere<T>(config: DaemonPlace, ask: (socket: string) => Promise<T>): Promise<T> {
  let refusal: unknown;
  for (const socket of socketsOf(config)) {
    try {
      return await ask(socket);
    } catch (error) {
      const mayAskElsewhere =
        error instanceof NotAllowedError || (refusal !== undefined && error instanceof NotRunningError);
      if (!mayAskElsewhere) throw error;
      // The first refusal counts: it names the socket of the configuration.
      refusal ??= error;
    }
  }
  throw refusal;
}

/** A member of the group may not look into the state directory, where the way to the socket of an installed service begins. */
function socketsOf(config: DaemonPlace): readonly string[] {
  const { socket } = config.status;
  const service = serviceOf(config.file);
  return [
    socket,
    readSocketPath(socket),
    ...(service === null ? [] : [readSocketPath(join(service.runtimeDir, basename(socket)))]),
  ];
}

/** Loads the ledger only when there is one to read: kysely takes 80 ms of CPU. */
async function openLedgerIfThere(stateDir: string): Promise<Ledger | null> {
  if (!(await isLedgerThere(stateDir))) return null;
  const { openExistingLedger } = await import('../ledger/ledger.ts');
  return openExistingLedger(stateDir);
}

/** Sends a command to the running daemon. @throws {CommandError} with exit code 3 when it is not running */
export async function commandDaemon<T>(config: DaemonPlace, path: string, body: unknown): Promise<T> {
  try {
    return await callDaemon<T>(config.status.socket, 'POST', path, body);
  } catch (error) {
    throw explain(error);
  }
}

/** The same, for a command that can be carried out without a daemon. @param otherwise while none runs */
export async function commandDaemonOr<T>(
  config: DaemonPlace,
  { path, body }: { readonly path: string; readonly body: unknown },
  otherwise: () => Promise<T>,
): Promise<T> {
  try {
    return await commandDaemon<T>(config, path, body);
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.notRunning) throw error;
    return otherwise();
  }
}

/**
 * Does something in the ledger itself, for commands that need no daemon.
 *
 * @throws {CommandError} when the ledger cannot be used
 */
export async function withLedger<T>({ stateDir }: Config, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const { openLedger } = await import('../ledger/ledger.ts');
  try {
    await using ledger = await openLedger(stateDir);
    return await work(ledger);
  } catch (error) {
    throw explain(error);
  }
}

function explain(error: unknown): unknown {
  if (error instanceof NotRunningError) {
    return new CommandError(
      'the daemon is not running: start it with `dropcast run` or `systemctl start dropcast`',
      exitCodes.notRunning,
    );
  }
  if (error instanceof LedgerInUseError) {
    const message =
      'another dropcast is using the ledger (a daemon that is starting, or `dropcast once`): try again later';
    return new CommandError(message, exitCodes.failed, { cause: error });
  }
  if (error instanceof ControlError || error instanceof LedgerError)
    return new CommandError(error.message, exitCodes.failed, { cause: error });
  return error;
}
