import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { startPreloaded } from './preloaded-daemon.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The calls that a daemon made, in order, each as `FILE FUNCTION`. */
export interface Trace {
  /** From the start of the process until it waits for files. */
  readonly starting: readonly string[];
  /** From the moment a file is dropped until it is put away and the process has ended. */
  readonly working: readonly string[];
}

/** Runs a daemon against the sandbox, drops one file for one feed into its empty folder, and records every call. */
export async function traceOneFile(): Promise<Trace> {
  await using scratch = await scratchDirectory();
  const calls = scratch.file('calls');
  const recorded = async (): Promise<readonly string[]> => (await readFile(calls, 'utf8')).trim().split('\n');
  await using daemon = await startPreloaded({
    root,
    preload: './test/docs/record-calls.ts',
    env: { CALL_LOG: calls },
    logLevel: 'debug',
  });
  const starting = await recorded();
  await daemon.drop('clip.mp4');
  await daemon.stop();
  return { starting, working: (await recorded()).slice(starting.length) };
}
