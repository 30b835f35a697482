/** The process as commands see it: nothing below main.ts reads `process`. */
export interface Shell {
  /** Opened when it is first asked for: most commands read nothing. */
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  readonly home: string;
  /** From now on SIGTERM, SIGINT and SIGHUP fire the signals below; until then they end the process, as they do for any command. */
  takeOverSignals(): void;
  /** Fires at the first of them: finish what runs, then end. */
  readonly stopping: AbortSignal;
  /** Fires at the second one: end now. */
  readonly hurrying: AbortSignal;
  /** A SIGHUP no longer stops, but calls back; the last callback counts. */
  onReload(callback: () => void): void;
}

/** What a command ends with (design section 2). */
export const exitCodes = { fine: 0, failed: 1, usage: 2, notRunning: 3, badConfig: 78 } as const;

/** Thrown to end a command with a sentence on stderr and an exit code: a user's mistake or a failure, never a bug. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
