import { stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import type { InstalledService } from '../../config/installed-service.ts';
import type { StatusView } from '../../view/picture/documents.ts';
import { queryRunningDaemon } from '../control.ts';
import { CommandError, exitCodes } from '../shell.ts';
import { runProgram, unitState } from './systemctl.ts';

/** Starts the service now and enables it at boot. Restarts it if its files are newer than the running process. */
export async function startService(service: InstalledService): Promise<string> {
  const unit = `${service.name}.service`;
  const { isActive, isEnabled, startedAt } = await unitState(unit);
  const isStale = isActive && (await newestChange(service)) > startedAt;
  if (!isEnabled) await runProgram('systemctl', '--quiet', 'enable', unit);
  if (isActive && !isStale) return `${unit} is already running`;
  await runProgram('systemctl', isActive ? 'restart' : 'start', unit).catch(async (error: unknown) => {
    throw new CommandError(`${(error as Error).message}\n${await lastWords(unit)}`, exitCodes.failed, {
      cause: error,
    });
  });
  return isActive ? `restarted ${unit}` : `started ${unit}, now and at every boot`;
}

/** The latest change to any of the service's files, in epoch milliseconds. */
async function newestChange({ configFile, keyFile, dropInFile }: InstalledService): Promise<number> {
  const times = await Promise.all(
    [configFile, keyFile, dropInFile].map(async (path) => (await stat(path).catch(() => null))?.ctimeMs ?? 0),
  );
  return Math.max(...times);
}

const pollMs = 200;

/**
 * Waits until the daemon is watching all folders and is not blocked. That is stricter than systemd's `active`.
 *
 * @throws {CommandError} with what the daemon is waiting for
 */
export async function untilReady(config: Config, signal: AbortSignal, patienceMs: number): Promise<string> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const status = await queryRunningDaemon<StatusView>(config, '/status');
    const why = whyNotReady(status);
    if (why === null)
      return `${status.folders.length === 1 ? 'the folder is' : `${status.folders.length} folders are`} watched`;
    if (signal.aborted || performance.now() > until) throw new CommandError(`the service is running, but ${why}`);
    await pause(pollMs);
  }
}

/** Returns why a running daemon is not ready, or null. */
export function whyNotReady({ folders, waiting }: Pick<StatusView, 'folders' | 'waiting'>): string | null {
  if (waiting !== null) return `waits: ${waiting.why}`;
  const folder = folders.find(({ state }) => state === 'starting' || state === 'frozen');
  if (folder !== undefined) return `${folder.path} is ${folder.state}${folder.why === null ? '' : `: ${folder.why}`}`;
  return folders.length === 0 ? 'it watches no folder' : null;
}

/** The service's last journal lines. */
async function lastWords(unit: string): Promise<string> {
  const args = ['--unit', unit, '--lines', '10', '--no-pager', '--output', 'cat', '--quiet'];
  return (await runProgram('journalctl', ...args).catch(() => '')).trimEnd();
}
