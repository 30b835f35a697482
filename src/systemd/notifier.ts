import type { Logger } from '../log/logger.ts';
import { unsafeCharacters } from '@dropcast/pages/unsafe-characters';
import { openBackend } from './notify-backends.ts';
import type { NotifyBackend } from './notify-backends.ts';

/** A message's assignments, as listed in sd_notify(3): `{ READY: '1', STATUS: 'Idle' }`. */
export type Notice = Readonly<Record<string, string>>;

/** The connection to the service manager. */
export interface Notifier extends Disposable {
  readonly backend: NotifyBackend['name'];
  /**
   * Longest time between two `WATCHDOG=1`, in milliseconds; null: the manager's watchdog is off
   * (sd_watchdog_enabled(3)).
   */
  readonly watchdogMs: number | null;
  /** Sends a message. Never throws: logs the first one that cannot be sent, and continues. */
  send(notice: Notice): void;
}

/** Thrown when a manager expects messages but none can be sent: it would stop the program when the start times out. */
export class NotifyError extends Error {
  override readonly name = 'NotifyError';
}

/**
 * Opens the connection to the service manager that started this process.
 *
 * @param options.env the environment with `NOTIFY_SOCKET` and `WATCHDOG_USEC`
 * @param options.pid this process's id, which `LISTEN_PID` and `WATCHDOG_PID` must match
 * @returns null when no manager expects messages
 * @throws {NotifyError}
 */
export function openNotifier(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly logger: Logger;
}): Notifier | null {
  const { env, pid, logger } = options;
  const path = env['NOTIFY_SOCKET'];
  if (path === undefined || path === '') return null;
  let isReported = false;
  const failed = (error: unknown): void => {
    if (!isReported) logger.warn('Cannot notify the service manager', { backend: backend?.name, err: error });
    isReported = true;
  };
  const backend = openBackend(path, { env, pid, failed });
  if (backend === null) {
    throw new NotifyError(
      `NOTIFY_SOCKET is ${oneLine(path)}, but no message can be sent to it. Use systemd 253 or newer with OpenFile=, or the Node that comes with dropcast, or install systemd-notify and set NotifyAccess=all`,
    );
  }
  return {
    backend: backend.name,
    watchdogMs: watchdogMs(env, pid),
    send: (notice) => {
      try {
        backend.send(textOf(notice));
      } catch (error) {
        failed(error);
      }
    },
    [Symbol.dispose]: () => backend.close(),
  };
}

/**
 * Formats one assignment per line. A line break within a value would start another assignment, such as
 * `WATCHDOG=trigger`.
 */
export function textOf(notice: Notice): string {
  return Object.entries(notice)
    .map(([name, value]) => `${name}=${oneLine(value)}`)
    .join('\n');
}

/**
 * Maximum length of a value, in characters. systemd truncates messages at 4096 bytes (NOTIFY_BUFFER_MAX), and a status
 * is one line of `systemctl status`.
 */
const mostCharacters = 300;

function oneLine(value: string): string {
  const characters = Array.from(value.replaceAll(unsafeCharacters, ' '));
  return characters.length <= mostCharacters
    ? characters.join('')
    : `${characters.slice(0, mostCharacters - 1).join('')}…`;
}

function watchdogMs(env: Readonly<Record<string, string | undefined>>, pid: number): number | null {
  const forWhom = env['WATCHDOG_PID'];
  if (forWhom !== undefined && forWhom !== '' && Number(forWhom) !== pid) return null;
  const microseconds = Number(env['WATCHDOG_USEC'] ?? 0);
  return Number.isSafeInteger(microseconds) && microseconds > 0 ? microseconds / 1_000 : null;
}

/** Share of the interval after which a stalled loop is logged: once systemd sends its signal, it is too late to log. */
const stalledShare = 1 / 2;

/**
 * Sends `WATCHDOG=1` every quarter of the interval, twice as often as sd_watchdog_enabled(3) recommends, but only if
 * the main loop has turned since the last time. systemd therefore restarts a stalled daemon no later than one and a
 * quarter intervals after the last turn. Pauses of up to half an interval are harmless.
 *
 * A turn is the end of a conductor tick, or one more row within a long tick: releasing 10,000 files with a write each
 * takes minutes and is not a hang. A tick that is waiting for the ledger, or for a promise that never settles, does not
 * turn. With a blocked event loop, nothing here runs at all. A folder that does not respond (a dead share) does not
 * count, because a restart would not bring it back.
 *
 * @param options.intervalMs longest time between two pings (`WatchdogSec=`)
 * @param options.progressedAt when the main loop last turned, on the clock of `performance.now()`
 */
export function keepAlive(options: {
  readonly notifier: Notifier;
  readonly logger: Logger;
  readonly intervalMs: number;
  readonly progressedAt: () => number;
}): Disposable {
  const { notifier, logger, intervalMs, progressedAt } = options;
  const waitMs = { alive: intervalMs / 4, late: Math.min(intervalMs / 8, 1_000) };
  let timer: NodeJS.Timeout;
  let lastTurn = -Infinity;
  let isLate = false;
  let isReported = false;
  const check = (): void => {
    const turn = progressedAt();
    const isAlive = turn > lastTurn;
    if (isAlive) notifier.send({ WATCHDOG: '1' });
    const stalledMs = performance.now() - turn;
    // Reports only at the second late check: after a pause of the whole process, the first check runs before the loop
    // can turn.
    if (isLate && !isAlive && !isReported && stalledMs > intervalMs * stalledShare) {
      logger.error('The main loop has stalled', { stalledMs: Math.round(stalledMs), intervalMs });
      isReported = true;
    }
    lastTurn = turn;
    isLate = !isAlive;
    isReported &&= isLate;
    timer = setTimeout(check, isAlive ? waitMs.alive : waitMs.late);
  };
  check();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
