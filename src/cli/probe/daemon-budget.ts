import type { RequestGate } from '@dropcast/client';
import type { Config } from '../../config/config.ts';
import type { StatusView } from '../../view/picture/documents.ts';
import { commandDaemon, queryRunningDaemon } from '../control.ts';
import { CommandError, exitCodes } from '../shell.ts';

/** The request budget of a running daemon, which shares the key. */
export interface DaemonBudget {
  /** Requests left in this hour. */
  readonly room: number;
  /** When the service accepts requests again, in epoch milliseconds; null if it does. */
  readonly blockedUntil: number | null;
  /** Counts each request in the daemon's budget before it is sent. */
  readonly gate: RequestGate;
}

/**
 * Finds the budget of the daemon that runs with this configuration.
 *
 * @returns null if no daemon is running
 * @throws {CommandError} the daemon does not answer, or this user may not command it
 */
export async function daemonBudget(config: Config): Promise<DaemonBudget | null> {
  const status = await queryRunningDaemon<StatusView>(config, '/status').catch((error: unknown) => {
    if (error instanceof CommandError && error.exitCode === exitCodes.notRunning) return null;
    throw error;
  });
  if (status === null) return null;
  const { requests } = status;
  return {
    room: requests === null ? 0 : Math.max(0, requests.limit - requests.used - requests.others),
    blockedUntil: requests?.blocked_until ?? null,
    gate: { pass: () => passThrough(config), throttled: () => undefined },
  };
}

async function passThrough(config: Config): Promise<void> {
  try {
    await commandDaemon(config, '/request', {});
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    // A daemon that has stopped in the meantime sends no requests that could exceed the budget.
    if (error.exitCode === exitCodes.notRunning) return;
    const message = `the daemon has no request to spare: \`dropcast status\` says until when (${error.message})`;
    throw new CommandError(message, exitCodes.failed, { cause: error });
  }
}
