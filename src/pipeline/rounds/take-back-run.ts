import type { Facts } from '../file/facts.ts';

/** A run of `dropcast undo`. Times are epoch milliseconds. */
export interface TakeBackRun {
  readonly at: number;
  readonly by: string;
  /** Each file with its video. No other video is ever deleted. */
  readonly files: readonly (readonly [id: string, videoId: string])[];
  /** Files whose video stays, and why. */
  readonly kept: readonly { readonly id: string; readonly path: string; readonly why: string }[];
  readonly stopped_by: string | null;
  readonly ended_at: number | null;
}

/** The progress of a run. */
export interface TakeBackProgress extends Omit<TakeBackRun, 'files'> {
  readonly files: number;
  /** Files whose video is gone. */
  readonly taken: number;
  readonly left: number;
  /** Why the run does not continue at present, or null. */
  readonly waits_for: string | null;
}

/** @param rows of the files @param left ids of the files that are not dealt with */
export function progressOf(
  { files, ...run }: TakeBackRun,
  rows: readonly Facts[],
  { left, waitsFor }: { readonly left: ReadonlyMap<string, string>; readonly waitsFor: string | null },
): TakeBackProgress {
  const videos = new Map(rows.map(({ id, videoId }) => [id, videoId]));
  const taken = files.filter(([id, videoId]) => videos.get(id) !== videoId).length;
  return { ...run, files: files.length, taken, left: files.filter(([id]) => left.has(id)).length, waits_for: waitsFor };
}
