import { stateOf, type End, type Facts } from '../pipeline/file/facts.ts';
import { isIgnored } from '../pipeline/file/reasons.ts';
import { stepStates } from '../pipeline/file/selection.ts';

/** A file's progress in the six words shown to people. */
export type Stage = 'settling' | 'queued' | 'uploading' | 'processing' | 'publishing' | 'done';

/** The stage of a file in progress, or how it ended. */
export type StageOrEnd = Stage | End | 'ignored';

/** The displayed states in each stage. A file waiting for a retry belongs to the stage it will resume. */
export const statesIn: Readonly<Record<Stage, readonly string[]>> = {
  settling: ['settling'],
  queued: ['queued', 'creating', 'awaiting upload'],
  uploading: ['uploading'],
  processing: ['processing'],
  publishing: ['awaiting publish'],
  done: ['done'],
};

export const stages = Object.keys(statesIn) as readonly Stage[];

export const ends: readonly End[] = ['done', 'failed', 'held', 'skipped', 'vanished', 'superseded'];

/** Every word shown to people for a file, in life-cycle order. */
export const stagesAndEnds: readonly StageOrEnd[] = [
  ...stages,
  'failed',
  'held',
  'skipped',
  'ignored',
  'vanished',
  'superseded',
];

/** Returns a stage's display word; `live` is its name in JSON. Pure. */
export function stageWord(name: Stage | 'live'): Stage {
  return name === 'live' ? 'done' : name;
}

/** Counts files in the given stages, without those waiting for a retry. Pure. */
export function filesIn<Name extends string>(
  all: readonly { readonly name: Name; readonly files: number }[],
  ...names: readonly Name[]
): number {
  return all.reduce((sum, { name, files }) => sum + (names.includes(name) ? files : 0), 0);
}

/**
 * Returns the stage of a file that has a row. Pure.
 *
 * @param isHeld whether a step is working on the file
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

/** Returns the stage or end for a displayed state; null for `retrying`, which may resume any stage. Pure. */
export function stageOfState(state: string): StageOrEnd | null {
  const stage = stages.find((one) => statesIn[one].includes(state));
  return stage ?? ends.find((end) => end === state) ?? null;
}

/**
 * Converts counts by state to the words shown to people. Files waiting for a retry are counted separately, because
 * counts do not show which stage each will resume. Pure.
 */
export function countsAsRead(
  counts: Readonly<Record<string, number>>,
): readonly (readonly [word: string, files: number])[] {
  const read = new Map<string, number>();
  for (const [state, files] of Object.entries(counts)) {
    const word = stageOfState(state) ?? 'waiting for a retry';
    if (files > 0) read.set(word, (read.get(word) ?? 0) + files);
  }
  return [...read];
}

/** Same as the ledger's SQL (`rowStage` in ledger/words.ts). */
function resumedStage({ dying, readyAt, uploadedAt, uploadStartedAt }: Facts): Stage {
  if (dying) return 'queued';
  if (readyAt !== null) return 'publishing';
  if (uploadedAt !== null) return 'processing';
  return uploadStartedAt === null ? 'queued' : 'uploading';
}

/** States of a file in progress. */
export const workStates: readonly string[] = [
  'queued',
  'awaiting upload',
  'processing',
  'awaiting publish',
  'retrying',
];

/** Every displayed state, in life-cycle order. */
export const knownStates: readonly string[] = ['settling', 'creating', 'uploading', ...workStates, ...ends];

/** Maps a state to the one shown while a step is running. Only the daemon knows about running steps. */
const steps: Readonly<Record<string, string>> = stepStates;

/** Returns a file's displayed state. */
export function shownState(facts: Facts, isHeld: boolean): string {
  const state = stateOf(facts);
  return isHeld ? (steps[state] ?? state) : state;
}

/** Converts counts by state to displayed states, for all files or for one folder. */
export type StepCounts = (
  counts: Readonly<Record<string, number>>,
  folder?: string,
) => Readonly<Record<string, number>>;

/** Builds a `StepCounts` function. Pure. @param held the rows that steps are working on */
export function countSteps(held: readonly Facts[]): StepCounts {
  return (counts, folder) => {
    const shown = { ...counts };
    for (const facts of held) {
      const [state, step] = [stateOf(facts), shownState(facts, true)];
      // The row may have changed since it was counted.
      if ((folder ?? facts.folder) !== facts.folder || (shown[state] ?? 0) === 0) continue;
      shown[state] = (shown[state] ?? 0) - 1;
      shown[step] = (shown[step] ?? 0) + 1;
    }
    return Object.fromEntries(Object.entries(shown).filter(([, count]) => count > 0));
  };
}
