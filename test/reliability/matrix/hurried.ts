import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hurried } from '../planted/bugs.ts';
import { plant } from '../planted/plant.ts';
import type { Edit } from '../planted/plant.ts';

/** Waits of the product, cut short so that a fault that costs minutes costs seconds. The rules stay what they are. */
const shortWaits: readonly Edit[] = [
  { anchor: 'timeoutMs = 3e4, maxRetries', instead: 'timeoutMs = 3e3, maxRetries' },
  { anchor: 'leastAnswerMs = 6e4', instead: 'leastAnswerMs = 2e3' },
  { anchor: 'deadMs >= 9e5', instead: 'deadMs >= 2e3' },
  { anchor: 'costlyProbeMs = 6e4', instead: 'costlyProbeMs = 300' },
  { anchor: 'first: 1e3, most: 6e4', instead: 'first: 50, most: 200' },
  { anchor: 'suspensionProbeMs = 3e5', instead: 'suspensionProbeMs = 300' },
  { anchor: 'least: 2e3, most: 2e4', instead: 'least: 50, most: 200' },
  { anchor: 'Math.min(Math.max(ms, 1e3), longestWaitMs)', instead: 'Math.min(Math.max(ms, 1e3), 3e3)' },
];

/** A copy of the program in a hurry. */
export async function hurriedProgram(program: string): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = join(tmpdir(), `dropcast-hurried-${randomBytes(6).toString('hex')}`);
  const path = await plant(program, folder, [...hurried, ...shortWaits]);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
