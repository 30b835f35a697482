/** The process, as seen by the commands. */
export interface Shell {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Makes SIGTERM, SIGINT and SIGHUP fire `stopping`. Until this is called they end the process, as usual. */
  takeOverSignals(): void;
  readonly stopping: AbortSignal;
}

/** The process, and how the program that hosts the commands prints and fails. */
export interface Terminal<S extends Shell = Shell> {
  readonly shell: S;
  /** Writes one line, `{"v":1,…}`. */
  printJson(document: object, stream: NodeJS.WritableStream): void;
  /** Escapes control characters in untrusted text, so that it fits safely on one terminal line. */
  escapeControls(text: string): string;
  /** Returns an error to throw, which ends the command with a sentence on stderr and an exit code. */
  failure(message: string, exitCode: number, options?: ErrorOptions): Error;
}

/** Formats lists for people; loaded only when needed. */
export interface Tables {
  /** Formats rows below their titles; every line ends with a line feed. @param rows raw text, which is escaped here */
  table(columns: readonly Column[], rows: readonly (readonly string[])[], shell: Shell): string;
  /** Formats a time from the service. @param iso null for no time */
  moment(iso: string | null, shell: Shell): string;
}

export interface Column {
  readonly title: string;
  /** Right-aligns the column, for numbers. */
  readonly align?: 'right';
  /** Set if the column may be truncated at the end when the table is too wide. */
  readonly cut?: 'end';
}

/** Exit codes of the commands. */
export const exitCodes = { fine: 0, failed: 1, usage: 2, notRunning: 3 } as const;

/** Resolves when the signal fires, or immediately if it already has. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
