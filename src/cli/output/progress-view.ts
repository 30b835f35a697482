/** Shows how a run goes on: a live region on a terminal, a line per change elsewhere. */
export interface Progress {
  /** Takes the state of everything; cheap, may be called with every chunk sent. */
  update(view: ProgressView): void;
  /** A permanent line (a result); above the live region on a terminal. Its colours stay, all else is made safe. */
  line(text: string): void;
  /** Draws the last state and leaves it standing. Later updates are ignored, later lines stand below. */
  finish(): void;
}

export interface ProgressView {
  /** Those under way or just ended. A file that is no longer listed is forgotten. */
  readonly files: readonly FileProgress[];
  /** Null when there is one file only, which says all itself. */
  readonly totals: Totals | null;
  /** Null when nobody counts them. */
  readonly requests: Requests | null;
}

export interface Totals {
  readonly done: number;
  readonly failed: number;
  readonly held: number;
  readonly total: number;
  readonly sentBytes: number;
  readonly totalBytes: number;
}

export interface Requests {
  readonly used: number;
  readonly limit: number;
  /** On the clock of `now`: when the budget allows the next request; `null` when nothing waits for it. */
  readonly waitingUntil: number | null;
}

export interface FileProgress {
  readonly id: string;
  readonly name: string;
  /** A word of the life of a file: `uploading`, `processing`, `done`, … */
  readonly state: string;
  readonly sentBytes: number;
  readonly sizeBytes: number;
  /** Why it waits or ended. */
  readonly why: string | null;
}

export interface ProgressOptions {
  readonly stream: NodeJS.WriteStream;
  readonly isTerminal: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** For `NO_COLOR` and `TERM`; without it the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}
