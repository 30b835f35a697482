import { readFile, writeFile } from 'node:fs/promises';
import type { Report } from './play.ts';

/** Seeds that once found something. They are played before all others, for ever. */
const file = new URL('kept-seeds.json', import.meta.url);

type Kept = Readonly<Record<string, string>>;

export async function keptSeeds(): Promise<readonly number[]> {
  return Object.keys(await read()).map(Number);
}

export async function keepSeeds(bad: readonly Pick<Report, 'seed' | 'violations'>[]): Promise<void> {
  const kept = await read();
  const fresh = bad.filter(({ seed }) => !(String(seed) in kept));
  if (fresh.length === 0) return;
  const all = {
    ...kept,
    ...Object.fromEntries(fresh.map(({ seed, violations }) => [seed, violations[0]?.invariant ?? ''])),
  };
  await writeFile(file, `${JSON.stringify(all, null, 2)}\n`);
}

async function read(): Promise<Kept> {
  return JSON.parse(await readFile(file, 'utf8')) as Kept;
}
