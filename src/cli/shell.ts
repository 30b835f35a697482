import { userInfo } from 'node:os';
import type { Suspension } from '../suspension.ts';

/** The process as seen by commands. Only main.ts reads `process`. */
export interface Shell {
  /** Opened on first use, because most commands read nothing. */
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Current directory, absolute. */
  readonly cwd: string;
  readonly home: string;
  /** Makes SIGTERM, SIGINT and SIGHUP fire the signals below. Until then they terminate the process, as usual. */
  takeOverSignals(): void;
  /** Fires at the first termination signal: finish running work, then exit. */
  readonly stopping: AbortSignal;
  /**
   * Fires at the second termination signal: abort running work. The process exits within a second, even if something
   * hangs.
   */
  readonly hurrying: AbortSignal;
  /** Makes SIGHUP call back instead of stopping the process. The last callback wins. */
  onReload(callback: () => void): void;
  /**
   * Calls back before the process is suspended (Ctrl-Z) and when it resumes (`fg`; possibly twice), for changing
   * terminal modes.
   */
  aroundSuspension(leave: () => void, comeBack: () => void): Suspension;
}

/** Exit codes of all commands (design section 2). */
export const exitCodes = { fine: 0, failed: 1, usage: 2, notRunning: 3, badConfig: 78 } as const;

/**
 * Thrown to end a command with a message on stderr and an exit code, for a user's mistake or a failure but not a bug.
 */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Turns a command's failure into a value. Other errors are bugs, and are thrown again. */
export function onRefusal<T>(value: (refusal: CommandError) => T): (error: unknown) => T {
  return (error) => {
    if (error instanceof CommandError) return value(error);
    throw error;
  };
}

/** Until the command is stopped, or the reader of its output has gone (`| head`). */
export interface Reading extends Disposable {
  readonly signal: AbortSignal;
  /** Fires the signal. */
  leave(): void;
}

export function whileRead({ stdout, stopping }: Pick<Shell, 'stdout' | 'stopping'>): Reading {
  const reader = new AbortController();
  const leave = (): void => reader.abort();
  stdout.once('error', leave);
  const signal = AbortSignal.any([stopping, reader.signal]);
  return { signal, leave, [Symbol.dispose]: () => void stdout.off('error', leave) };
}

/** The user to record for a command: the user behind sudo, if any. */
export function userName({ env }: Pick<Shell, 'env'>): string {
  const { SUDO_USER: behind } = env;
  if (behind !== undefined && behind !== '') return behind;
  try {
    return userInfo().username;
  } catch {
    // The user ID has no name, as in a container.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
