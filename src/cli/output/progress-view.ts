import type { RunTotals } from '../run/run-tally.ts';

/** Shows the progress of a run: as a live region on a terminal, as one line per change elsewhere. */
export interface Progress {
  /** Updates the display with the current state. Cheap enough to call for every chunk sent. */
  update(view: ProgressView): void;
  /**
   * Writes a permanent line (such as a result), above the live region on a terminal. Keeps the line's colours and
   * escapes everything else.
   */
  line(text: string): void;
  /** Draws the final state and leaves it there. Later updates are ignored; later lines appear below. */
  finish(): void;
}

export interface ProgressView {
  /** Files that are in motion, changed since the last view or just finished, and some that are waiting. */
  readonly files: readonly FileProgress[];
  /** Number of active files not in `files`. */
  readonly more: number;
  /** Null for a single file, which needs no totals. */
  readonly totals: RunTotals | null;
  /** Null if requests are not counted. */
  readonly requests: Requests | null;
}

export interface Requests {
  readonly used: number;
  readonly limit: number;
  /** When the budget allows the next request, on the same clock as `now`; null if nothing is waiting. */
  readonly waitingUntil: number | null;
}

export interface FileProgress {
  readonly id: string;
  readonly name: string;
  /** The current stage or final state: `uploading`, `processing`, `done`, … */
  readonly stage: string;
  /** Whether the file is waiting to retry its stage. */
  readonly isRetrying?: boolean | undefined;
  readonly sentBytes: number;
  readonly sizeBytes: number;
  /** Why the file is waiting or finished. */
  readonly why: string | null;
}

export interface ProgressOptions {
  readonly stream: NodeJS.WriteStream;
  readonly isTerminal: boolean;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** Variables for `NO_COLOR` and `TERM`. Defaults to the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const ended: ReadonlySet<string> = new Set(['done', 'failed', 'held', 'skipped', 'ignored', 'vanished', 'superseded']);

export function hasEnded({ stage }: FileProgress): boolean {
  return ended.has(stage);
}
