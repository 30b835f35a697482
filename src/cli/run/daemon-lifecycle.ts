import { secretsIn } from '../../config/secret.ts';
import type { Config } from '../../config/config.ts';
import { loadConfig } from '../../config/load.ts';
import { UnknownNamesError } from '../../daemon/check-names.ts';
import { nameProblems } from '../configure/online-problems.ts';
import { startDaemon, systemClock } from '../../daemon/daemon.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { uploadsHere } from '../../pipeline/steps/uploads.ts';
import { AlreadyRunningError } from '../../daemon/state/instance-lock.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import { createLogger } from '../../log/create-logger.ts';
import type { Logger } from '../../log/logger.ts';
import { SecretValues } from '../../log/redaction.ts';
import { badConfig } from '../read-config.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/**
 * How long a stopping daemon lets uploads finish. It asks systemd for that much time (systemd/lifecycle.ts), and stays
 * below the unit's 60 s in case systemd does not grant it.
 */
const drainMs = 45_000;

/**
 * Opens the configured log on a stream. Secrets from the configuration never appear in it.
 *
 * @returns the logger, the secrets it hides (a reload adds more), and `close`, to await before the process exits
 */
export function openLog(
  config: Config,
  shell: Shell,
  stream: NodeJS.WritableStream & { readonly isTTY?: boolean },
  secrets: SecretValues = new SecretValues(),
): { readonly logger: Logger; readonly secrets: SecretValues; close(): Promise<void> } {
  for (const secret of secretsIn(config)) secrets.add(secret.reveal());
  const { logger, close } = createLogger({
    ...config.log,
    stream,
    isTerminal: stream.isTTY === true,
    env: shell.env,
    secrets,
  });
  return { logger, secrets, close };
}

/**
 * Starts the daemon; see `startDaemon`.
 *
 * @throws {CommandError} when another dropcast uses the state directory, the ledger cannot be used, or the service
 *   lacks a channel or feed named in the rules
 */
export async function startDaemonOrExplain(
  config: Config,
  { shell, logger }: { readonly shell: Shell; readonly logger: Logger },
  built?: (daemon: Daemon) => Promise<void>,
): Promise<Daemon> {
  try {
    return await startDaemon(config, logger, systemClock, built);
  } catch (error) {
    if (error instanceof AlreadyRunningError || error instanceof LedgerError)
      throw new CommandError(error.message, exitCodes.failed, { cause: error });
    if (error instanceof UnknownNamesError) {
      const { file } = config;
      const { locate } = await loadConfig(file, shell, 'without key');
      const problems = nameProblems(error.findings, { file, locate });
      throw badConfig(problems, shell.cwd, `the configuration ${file} is wrong: nothing was started`);
    }
    throw error;
  }
}

/**
 * Stops the daemon. Running uploads may finish within 45 s, or until the second signal.
 *
 * @returns how many uploads were aborted
 */
export async function drain(daemon: Daemon, shell: Shell): Promise<number> {
  const hurry = AbortSignal.any([shell.hurrying, AbortSignal.timeout(drainMs)]);
  let aborted = 0;
  const count = (): void => {
    aborted = uploadsHere(daemon).length;
  };
  if (hurry.aborted) count();
  else hurry.addEventListener('abort', count, { once: true });
  await daemon.stop(hurry);
  return aborted;
}
