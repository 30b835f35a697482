import type { Config } from '../config/config.ts';
import type { Reloaded } from '../daemon/control-server.ts';
import { isInstanceRunning } from '../daemon/instance-lock.ts';
import { commandDaemon } from './control.ts';
import { requireLoadable } from './read-config.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';
import { needsRestart } from './reload-config.ts';

/**
 * `dropcast reload`: has the running daemon read its configuration again, and waits for what it says. This is what
 * `systemctl reload` runs: a signal would not tell whether the new configuration is any good.
 *
 * @throws {CommandError} 78 when it was refused, with every problem; 3 when the daemon is not running
 */
export async function reload(shell: Shell, options: { readonly config?: string }): Promise<void> {
  const config = await readableOrRefused(shell, options.config);
  const { ok, problems, config: file } = await ask(shell, config);
  if (file !== config.file) shell.stderr.write(`the daemon was started with ${file}, which it has read again\n`);
  if (!ok) throw refused(problems);
  for (const line of problems) shell.stderr.write(`${line}\n`);
  shell.stdout.write(`${file} was taken over.\n`);
}

/** One that cannot even be read names no socket to ask at. */
async function readableOrRefused(shell: Shell, option: string | undefined): Promise<Config> {
  try {
    return await requireLoadable(shell, option);
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === exitCodes.badConfig) throw refused([error.message]);
    throw error;
  }
}

async function ask(shell: Shell, config: Config): Promise<Reloaded> {
  try {
    return await commandDaemon<Reloaded>(config, '/reload', {});
  } catch (error) {
    const isNobodyThere = error instanceof CommandError && error.exitCode === exitCodes.notRunning;
    if (!isNobodyThere || !(await isRunning(shell, config))) throw error;
    // It runs, but not where the file now says: the old place is known to it alone.
    throw refused([`the daemon does not listen at ${config.status.socket}`, needsRestart]);
  }
}

/** systemd runs a reload only for a service that runs, and names its process in `$MAINPID` (systemd.exec(5)). */
async function isRunning({ env }: Shell, { stateDir }: Config): Promise<boolean> {
  return Boolean(env['MAINPID']) || (await isInstanceRunning(stateDir));
}

function refused(problems: readonly string[]): CommandError {
  return new CommandError([...problems, 'the old configuration stays'].join('\n'), exitCodes.badConfig);
}
