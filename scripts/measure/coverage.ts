import { Session } from 'node:inspector/promises';
import type { Profiler } from 'node:inspector';

/** Calls of a process since it was asked before. */
export type Coverage = readonly Profiler.ScriptCoverage[];

/**
 * Preloaded with `node --import`: answers each message of the parent process with the calls since the last one. V8
 * counts the calls of this thread only; those of the threads that hash are not in it.
 */
if (process.send !== undefined) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  process.on(
    'message',
    () => void session.post('Profiler.takePreciseCoverage').then(({ result }) => process.send?.(result)),
  );
  // The daemon ends as it does without a parent that asks.
  process.channel?.unref();
}
