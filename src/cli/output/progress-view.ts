import type { RunTotals } from '../run/run-tally.ts';

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
  /** When the budget allows the next request, in milliseconds of `performance.now()`; null if nothing is waiting. */
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

const ended: ReadonlySet<string> = new Set(['done', 'failed', 'held', 'skipped', 'ignored', 'vanished', 'superseded']);

export function hasEnded({ stage }: FileProgress): boolean {
  return ended.has(stage);
}
