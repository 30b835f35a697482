import type { RunTotals } from '../run/run-tally.ts';

/** Shows the progress of a run: a live region on a terminal, a line per change elsewhere. */
export interface Progress {
  /** Takes the state of everything. Cheap enough to call for every chunk sent. */
  update(view: ProgressView): void;
  /**
   * Writes a permanent line (a result), above the live region on a terminal. Keeps its colours, escapes everything
   * else.
   */
  line(text: string): void;
  /** Draws the last state and leaves it there. Ignores later updates; later lines appear below. */
  finish(): void;
}

export interface ProgressView {
  /** Files that move, have changed since the last view, or have just ended, and some that wait. */
  readonly files: readonly FileProgress[];
  /** Active files that are not among `files`. */
  readonly more: number;
  /** Null for a single file, which needs no total. */
  readonly totals: RunTotals | null;
  /** Null when requests are not counted. */
  readonly requests: Requests | null;
}

export interface Requests {
  readonly used: number;
  readonly limit: number;
  /** When the budget allows the next request, on the clock of `now`; null when nothing waits. */
  readonly waitingUntil: number | null;
}

export interface FileProgress {
  readonly id: string;
  readonly name: string;
  /** Its stage or end: `uploading`, `processing`, `done`, … */
  readonly stage: string;
  /** It waits before it resumes its stage. */
  readonly isRetrying?: boolean | undefined;
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
  /** For `NO_COLOR` and `TERM`. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const ended: ReadonlySet<string> = new Set(['done', 'failed', 'held', 'skipped', 'ignored', 'vanished', 'superseded']);

export function hasEnded({ stage }: FileProgress): boolean {
  return ended.has(stage);
}
