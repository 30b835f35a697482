import { medianMs, runNode } from './timing.ts';

/** The whole demo, from nothing to the table: sandbox, daemon, five files. */
export async function bench(): Promise<readonly string[]> {
  const empty = await medianMs(() => runNode('-e', ''));
  const demo = await medianMs(() => runNode('src/main.ts', 'demo'), 3);
  return [`dropcast demo  ${(demo / 1_000).toFixed(1)} s  ${(demo / empty).toFixed(0)} × the start of an empty Node`];
}
