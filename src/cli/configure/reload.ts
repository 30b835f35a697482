import type { Config } from '../../config/config.ts';
import type { Reloaded } from '../../daemon/control/routes.ts';
import { isInstanceRunning } from '../../daemon/state/instance-lock.ts';
import { commandDaemon } from '../control.ts';
import { printJson } from '../output/json.ts';
import { requireLoadable } from '../read-config.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { needsRestart } from './reload-config.ts';
import { planText } from './reload-plan-text.ts';

export interface ReloadOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly plan?: boolean;
}

/**
 * `dropcast reload`: makes the running daemon read its configuration again, and waits for the result. `systemctl
 * reload` runs this because a signal could not report whether the new configuration is valid. With `--plan`, only
 * prints what would change.
 *
 * @throws {CommandError} 78 when the daemon refuses the configuration or the file cannot be read at all; 3 when the
 *   daemon is not running
 */
export async function reload(shell: Shell, options: ReloadOptions): Promise<void> {
  const config = await loadableOrRefused(shell, options.config);
  const reloaded = await ask(shell, config, options.plan === true);
  const { ok, problems, config: file, plan } = reloaded;
  if (file !== config.file)
    shell.stderr.write(`The daemon uses ${file}, so it ${plan === undefined ? 'reloaded' : 'looked at'} that file.\n`);
  if (!ok) throw refused(problems);
  if (options.json === true) {
    printJson(reloaded, shell.stdout);
    return;
  }
  for (const line of problems) shell.stderr.write(`${line}\n`);
  shell.stdout.write(plan === undefined ? 'Reloaded.\n' : planText(plan, shell));
}

/** Loads the configuration. One that cannot be loaded names no socket, so the reload is refused. */
async function loadableOrRefused(shell: Shell, option: string | undefined): Promise<Config> {
  try {
    return await requireLoadable(shell, option);
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === exitCodes.badConfig) throw refused([error.message]);
    throw error;
  }
}

async function ask(shell: Shell, config: Config, plan: boolean): Promise<Reloaded> {
  try {
    return await commandDaemon<Reloaded>(config, '/reload', { plan });
  } catch (error) {
    const isNotRunning = error instanceof CommandError && error.exitCode === exitCodes.notRunning;
    if (!isNotRunning || !(await isRunning(shell, config))) throw error;
    // The daemon is running but listens elsewhere, so the file now names a different socket.
    throw refused([`the daemon does not listen at ${config.status.socket}`, needsRestart]);
  }
}

/**
 * Whether the daemon is running. systemd reloads only a running service, and passes its process in `$MAINPID`
 * (systemd.exec(5)).
 */
async function isRunning({ env }: Shell, { stateDir }: Config): Promise<boolean> {
  return Boolean(env['MAINPID']) || (await isInstanceRunning(stateDir));
}

function refused(problems: readonly string[]): CommandError {
  return new CommandError([...problems, 'The old configuration stays active.'].join('\n'), exitCodes.badConfig);
}
