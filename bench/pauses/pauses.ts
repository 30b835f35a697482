import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../child.ts';
import type { Running } from '../child.ts';

/**
 * The environment of a program that reports how long its event loop stood still. @param path an absolute path for the
 * report
 */
export function tellingPauses(path: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=${join(import.meta.dirname, 'tell.mjs')}`, BENCH_PAUSES: path };
}

/** The longest since this was asked before, in milliseconds. */
export interface Longest {
  /** Of the clock, between two turns of the event loop: on a busy machine it contains what other programs took. */
  readonly pause: number;
  /** CPU time of the main thread in one turn of the event loop, and in at most ten milliseconds of other turns. */
  readonly turn: number;
}

export async function longest({ pid }: Pick<Running, 'pid'>, path: string): Promise<Longest> {
  await rm(path, { force: true });
  process.kill(pid, 'SIGUSR2');
  await until(() => existsSync(path));
  return JSON.parse(await readFile(path, 'utf8')) as Longest;
}
