import { readFile, writeFile } from 'node:fs/promises';
import type { Report, World } from './play.ts';

/** Seeds that once found something, in the product or in the simulation. They are played before all others, for ever. */
const file = new URL('kept-seeds.json', import.meta.url);

type Kept = Readonly<Record<string, string>>;

export async function keptSeeds(world: World): Promise<readonly number[]> {
  return Object.keys((await read())[world] ?? {}).map(Number);
}

export async function keepSeeds(world: World, reports: readonly Pick<Report, 'seed' | 'violations'>[]): Promise<void> {
  const all = await read();
  const kept = all[world] ?? {};
  const fresh = reports.filter(({ seed, violations }) => violations.length > 0 && !(String(seed) in kept));
  if (fresh.length === 0) return;
  const found = Object.fromEntries(fresh.map(({ seed, violations }) => [seed, violations[0]?.invariant ?? '']));
  await writeFile(file, `${JSON.stringify({ ...all, [world]: { ...kept, ...found } }, null, 2)}\n`);
}

async function read(): Promise<Partial<Record<World, Kept>>> {
  return JSON.parse(await readFile(file, 'utf8')) as Partial<Record<World, Kept>>;
}
