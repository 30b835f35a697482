import { type Facts, stateOf } from '../../pipeline/file/facts.ts';
import { stepStates } from '../../pipeline/file/selection.ts';

/** States of a file in progress. */
export const workStates: readonly string[] = [
  'queued',
  'awaiting upload',
  'processing',
  'awaiting publish',
  'retrying',
];

/** Every displayed state, in life-cycle order. */
export const knownStates: readonly string[] = [
  'settling',
  'creating',
  'uploading',
  ...workStates,
  'done',
  'failed',
  'held',
  'skipped',
  'vanished',
  'superseded',
];

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
