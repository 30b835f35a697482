import type { Config } from '../config/config.ts';
import { callDaemon, ControlError, NotRunningError } from '../daemon/control-client.ts';
import { openExistingLedger } from '../ledger/ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError, LedgerInUseError } from '../ledger/ledger-error.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

/**
 * Asks the running daemon, or reads its ledger when it is down, and says so on stderr.
 *
 * @param shell null to say nothing
 * @param path on the control socket
 * @param read what the ledger alone can say; with null when nothing was ever written
 */
export async function askOrRead<T>(
  shell: Pick<Shell, 'stderr'> | null,
  config: Config,
  path: string,
  read: (ledger: Ledger | null) => Promise<T>,
): Promise<T> {
  try {
    return await callDaemon<T>(config.status.socket, 'GET', path);
  } catch (error) {
    if (!(error instanceof NotRunningError)) throw explain(error);
  }
  try {
    await using ledger = await openExistingLedger(config.stateDir);
    const left = ledger === null ? 'and it left no ledger yet' : 'this is what it left in its ledger';
    shell?.stderr.write(`The daemon is not running; ${left}.\n`);
    return await read(ledger);
  } catch (error) {
    throw explain(error);
  }
}

/** Has the running daemon do something. @throws {CommandError} with exit code 3 when it is not running */
export async function tell<T>(config: Config, path: string, body: unknown): Promise<T> {
  try {
    return await callDaemon<T>(config.status.socket, 'POST', path, body);
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
    const message = 'another dropcast works with the ledger at the moment: it is starting, or it is a `dropcast once`';
    return new CommandError(message, exitCodes.failed, { cause: error });
  }
  if (error instanceof ControlError || error instanceof LedgerError)
    return new CommandError(error.message, exitCodes.failed, { cause: error });
  return error;
}
