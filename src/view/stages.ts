import { stateOf } from '../pipeline/file/facts.ts';
import type { End, Facts } from '../pipeline/file/facts.ts';
import { isIgnored } from '../pipeline/file/reasons.ts';

/** The way of a file in the six words that people read. */
export type Stage = 'settling' | 'queued' | 'uploading' | 'processing' | 'publishing' | 'done';

/** The word for a file on its way, or for how it ended. */
export type StageOrEnd = Stage | End | 'ignored';

/** The states of each stage, as files are shown. A file that waits for another try is in the stage that it will resume. */
export const statesIn: Readonly<Record<Stage, readonly string[]>> = {
  settling: ['settling'],
  queued: ['queued', 'creating', 'awaiting upload'],
  uploading: ['uploading'],
  processing: ['processing'],
  publishing: ['awaiting publish'],
  done: ['done'],
};

export const stages = Object.keys(statesIn) as readonly Stage[];

/**
 * Pure: the stage of a file that has a row.
 *
 * @param isHeld whether a step works on it
 */
export function stageOf(facts: Facts, isHeld: boolean): StageOrEnd {
  const state = stateOf(facts);
  switch (state) {
    case 'retrying':
      return resumedStage(facts);
    case 'awaiting upload':
      return isHeld ? 'uploading' : 'queued';
    case 'awaiting publish':
      return 'publishing';
    case 'skipped':
      return isIgnored(facts) ? 'ignored' : 'skipped';
    default:
      return state;
  }
}

/** The ledger has the same as SQL (`resumedStage` in snapshot.ts). */
function resumedStage({ dying, readyAt, uploadedAt, uploadStartedAt }: Facts): Stage {
  if (dying) return 'queued';
  if (readyAt !== null) return 'publishing';
  if (uploadedAt !== null) return 'processing';
  return uploadStartedAt === null ? 'queued' : 'uploading';
}

/** How many files are in each stage and ended in each way, in the order of their life; `skipped` includes what was ignored. */
export type StageCounts = Readonly<Record<Stage | End, number>>;

/**
 * Pure.
 *
 * @param counts by state as shown; the ledger's counts by state of the row do, where nobody knows what the steps work on
 * @param retrying those that wait for another try, by the stage that they will resume
 * @param settling files that have no row yet
 */
export function stageCounts(
  counts: Readonly<Record<string, number>>,
  retrying: Readonly<Partial<Record<Stage, number>>>,
  settling = 0,
): StageCounts {
  const of = (stage: Stage): number =>
    statesIn[stage].reduce((sum, state) => sum + (counts[state] ?? 0), retrying[stage] ?? 0);
  const ended = (end: End): number => counts[end] ?? 0;
  return {
    settling,
    queued: of('queued'),
    uploading: of('uploading'),
    processing: of('processing'),
    publishing: of('publishing'),
    done: ended('done'),
    failed: ended('failed'),
    held: ended('held'),
    skipped: ended('skipped'),
    vanished: ended('vanished'),
    superseded: ended('superseded'),
  };
}
