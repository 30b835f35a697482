/** The process as the commands see it. */
export interface Shell {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** From now on SIGTERM, SIGINT and SIGHUP fire `stopping`; until then they end the process, as usual. */
  takeOverSignals(): void;
  readonly stopping: AbortSignal;
}

/** The process, and how the program that has the commands prints and fails. */
export interface Terminal<S extends Shell = Shell> {
  readonly shell: S;
  /** Writes one line, `{"v":1,…}`. */
  printJson(document: object, stream: NodeJS.WritableStream): void;
  /** Text from outside, made safe for one line of a terminal. */
  escapeControls(text: string): string;
  /** To be thrown: ends the command with a sentence on stderr and an exit code. */
  failure(message: string, exitCode: number, options?: ErrorOptions): Error;
}

/** How the program shows a list to a person; loaded when there is one to show. */
export interface Tables {
  /** Rows under their titles, each line with its line feed. @param rows raw text, which is made safe here */
  table(columns: readonly Column[], rows: readonly (readonly string[])[], shell: Shell): string;
  /** A time as the service gives it, or null for none. */
  moment(iso: string | null, shell: Shell): string;
}

export interface Column {
  readonly title: string;
  /** Numbers stand to the right. */
  readonly align?: 'right';
  /** Set on columns that may be cut at their end when the table is too wide. */
  readonly cut?: 'end';
}

/** Exit codes of the commands. */
export const exitCodes = { fine: 0, failed: 1, usage: 2, notRunning: 3 } as const;

/** Resolves when the signal fires, or at once if it has. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
