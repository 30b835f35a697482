import { type Facts, stateOf } from '../../pipeline/file/facts.ts';
import { stepStates } from '../../pipeline/file/selection.ts';

/** States of a file that is on its way. */
export const workStates: readonly string[] = [
  'queued',
  'awaiting upload',
  'processing',
  'awaiting publish',
  'retrying',
];

/** Every state in which a file is shown, in the order of its life. */
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

/** A step is known to the running daemon alone. */
const steps: Readonly<Record<string, string>> = stepStates;

/** The state of a file as it is shown. */
export function shownState(facts: Facts, isHeld: boolean): string {
  const state = stateOf(facts);
  return isHeld ? (steps[state] ?? state) : state;
}

/** Counts files as they are shown, all together or those of one folder. */
export type StepCounts = (
  counts: Readonly<Record<string, number>>,
  folder?: string,
) => Readonly<Record<string, number>>;

/** Pure. @param held the rows that a step works on */
export function countSteps(held: readonly Facts[]): StepCounts {
  return (counts, folder) => {
    const shown = { ...counts };
    for (const facts of held) {
      const [state, step] = [stateOf(facts), shownState(facts, true)];
      // The row may have moved on since it was counted.
      if ((folder ?? facts.folder) !== facts.folder || (shown[state] ?? 0) === 0) continue;
      shown[state] = (shown[state] ?? 0) - 1;
      shown[step] = (shown[step] ?? 0) + 1;
    }
    return Object.fromEntries(Object.entries(shown).filter(([, count]) => count > 0));
  };
}
