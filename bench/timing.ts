import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const root = join(import.meta.dirname, '..');
export const node = join(root, 'node_modules/.bin/node');

/** The middle one of several runs, in milliseconds: others on the machine cannot move it far. */
export async function medianMs(run: () => Promise<unknown>, times = 9): Promise<number> {
  const taken: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const start = performance.now();
    await run();
    taken.push(performance.now() - start);
  }
  return taken.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
}

export async function runNode(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(node, [...args], { cwd: root, env: { ...process.env, NO_COLOR: '1' } })).stdout;
}
