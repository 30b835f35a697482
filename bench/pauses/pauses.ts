import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../child.ts';
import type { Running } from '../child.ts';

/** The environment of a program that tells how long its event loop stood still. @param path an absolute path for what it tells */
export function tellingPauses(path: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=${join(import.meta.dirname, 'tell.mjs')}`, BENCH_PAUSES: path };
}

/** The longest pause of the event loop since this was asked before, in milliseconds. */
export async function longestPause({ pid }: Pick<Running, 'pid'>, path: string): Promise<number> {
  await rm(path, { force: true });
  process.kill(pid, 'SIGUSR2');
  await until(() => existsSync(path));
  return Number(await readFile(path, 'utf8'));
}
