import { readFile } from 'node:fs/promises';
import { createVideoClient, type VideoClient } from '@dropcast/client';
import { compare, type Comparison } from '../../packages/recorder/src/compare/compare.ts';
import { readRecording, type Recording } from '../../packages/recorder/src/recording.ts';
import { startRecorder, type Recorder, type RecorderOptions } from '../../packages/recorder/src/recorder.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

export interface Recorded {
  readonly recording: Recording;
  /** The bytes of the file. */
  readonly text: string;
  readonly comparison: Comparison;
}

/** Runs a program between which and the service a recorder stands. @returns what was recorded */
export async function recorded(
  to: string,
  program: (recorder: Recorder) => Promise<void>,
  { closeWithinMs, ...options }: Partial<RecorderOptions> & { readonly closeWithinMs?: number } = {},
): Promise<Recorded> {
  await using folder = await scratchDirectory();
  const file = folder.file('recording.ndjson');
  await using recorder = await startRecorder({ to, file, ...options });
  await program(recorder);
  await recorder.close(closeWithinMs);
  const recording = await readRecording(file);
  return { recording, text: await readFile(file, 'utf8'), comparison: compare(recording.exchanges) };
}

export function clientAt({ baseUrl }: { readonly baseUrl: string }, apiKey: string): VideoClient {
  return createVideoClient({ baseUrl, apiKey, proxyEnv: {}, maxRetries: 0 });
}
