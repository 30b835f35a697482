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
