import { workStates } from './file-view.ts';

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
