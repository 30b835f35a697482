import { stateOf } from '../pipeline/file/facts.ts';
import type { End, Facts } from '../pipeline/file/facts.ts';
import { isIgnored } from '../pipeline/file/reasons.ts';

/** The way of a file in the six words that people read. */
export type Stage = 'settling' | 'queued' | 'uploading' | 'processing' | 'publishing' | 'done';

/** The word for a file on its way, or for how it ended. */
export type StageOrEnd = Stage | End | 'ignored';

/**
 * The states of each stage, as files are shown. A file that waits for a retry is in the stage that it will resume.
 */
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

/** Every word that people read for a file, in the order of its life. */
export const stagesAndEnds: readonly StageOrEnd[] = [
  ...stages,
  'failed',
  'held',
  'skipped',
  'ignored',
  'vanished',
  'superseded',
];

/** Pure: a stage as people read it; `live` is its name in JSON. */
export function stageWord(name: Stage | 'live'): Stage {
  return name === 'live' ? 'done' : name;
}

/** Pure: files in some of the stages, without those that wait for a retry. */
export function filesIn<Name extends string>(
  all: readonly { readonly name: Name; readonly files: number }[],
  ...names: readonly Name[]
): number {
  return all.reduce((sum, { name, files }) => sum + (names.includes(name) ? files : 0), 0);
}

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

/** Pure: the same of a state alone, as a file is shown in it; null for `retrying`, which resumes any of them. */
export function stageOfState(state: string): StageOrEnd | null {
  const stage = stages.find((one) => statesIn[one].includes(state));
  return stage ?? ends.find((end) => end === state) ?? null;
}

/**
 * Pure: counts by state in the words that people read. Counts alone do not tell which stages the files that wait for
 * another try resume, so those are counted apart.
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

/** The ledger has the same as SQL (`rowStage` in ledger/words.ts). */
function resumedStage({ dying, readyAt, uploadedAt, uploadStartedAt }: Facts): Stage {
  if (dying) return 'queued';
  if (readyAt !== null) return 'publishing';
  if (uploadedAt !== null) return 'processing';
  return uploadStartedAt === null ? 'queued' : 'uploading';
}
