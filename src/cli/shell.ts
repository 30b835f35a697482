import type { Suspension } from '../suspension.ts';

/** The process for commands: only main.ts reads `process`. */
export interface Shell {
  /** Opened on first use: most commands read nothing. */
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  readonly home: string;
  /** From here on SIGTERM, SIGINT and SIGHUP fire the signals below; before that they end the process, as usual. */
  takeOverSignals(): void;
  /** Fires at the first of them: finish running work, then exit. */
  readonly stopping: AbortSignal;
  /** Fires at the second: cut running work. The process ends within a second, whatever hangs. */
  readonly hurrying: AbortSignal;
  /** SIGHUP calls back instead of stopping; the last callback wins. */
  onReload(callback: () => void): void;
  /**
   * Calls back before the process is suspended (Ctrl-Z) and when it resumes (`fg`; perhaps twice), to set modes of the
   * terminal.
   */
  aroundSuspension(leave: () => void, comeBack: () => void): Suspension;
}

/** Exit codes of all commands (design section 2). */
export const exitCodes = { fine: 0, failed: 1, usage: 2, notRunning: 3, badConfig: 78 } as const;

/** Thrown to end a command with a sentence on stderr and an exit code: a user's mistake or a failure, not a bug. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
