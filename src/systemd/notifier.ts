import type { Logger } from '../log/logger.ts';
import { openBackend } from './notify-backends.ts';
import type { NotifyBackend } from './notify-backends.ts';

/** Assignments of one message, as sd_notify(3) lists them: `{ READY: '1', STATUS: 'Idle' }`. */
export type Notice = Readonly<Record<string, string>>;

/** The way to the service manager. */
export interface Notifier extends Disposable {
  readonly backend: NotifyBackend['name'];
  /** The manager wants a `WATCHDOG=1` at least so often; null when it does not watch (sd_watchdog_enabled(3)). */
  readonly watchdogMs: number | null;
  /** Never throws: the first message that cannot be sent is logged, and the work goes on. */
  send(notice: Notice): void;
}

/** Thrown when a manager waits for messages and there is no way to send any: it would end the program at its start timeout. */
export class NotifyError extends Error {
  override readonly name = 'NotifyError';
}

/**
 * Opens the way to the service manager that started this process, or returns null when none waits for messages.
 *
 * @param options.pid of this process: what `LISTEN_PID` and `WATCHDOG_PID` must name
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
  let isTold = false;
  const failed = (error: unknown): void => {
    if (!isTold) logger.warn('The service manager cannot be told how it goes', { backend: backend?.name, err: error });
    isTold = true;
  };
  const backend = openBackend(path, { env, pid, failed });
  if (backend === null) {
    throw new NotifyError(
      `NOTIFY_SOCKET is ${oneLine(path)}, but nothing can be sent to it: use systemd 253 or newer with OpenFile=, the Node that comes with dropcast, or install systemd-notify and set NotifyAccess=all`,
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

/** One assignment a line: a value that held a line break would be another assignment, `WATCHDOG=trigger` for one. */
export function textOf(notice: Notice): string {
  return Object.entries(notice)
    .map(([name, value]) => `${name}=${oneLine(value)}`)
    .join('\n');
}

/** A message is cut off at 4096 bytes (NOTIFY_BUFFER_MAX in systemd), and a status is one line of `systemctl status`. */
const mostCharacters = 300;

/** Controls (C0, C1), bidirectional overrides, other invisible characters, halves of surrogate pairs, and line separators. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]+/gu;

function oneLine(value: string): string {
  const characters = Array.from(value.replaceAll(unprintable, ' '));
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
