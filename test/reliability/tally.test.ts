import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { addToTally } from './tally.ts';

test('each long run adds what it measured, and a run without a find keeps the last find', async () => {
  await using scratch = await scratchDirectory();
  const nothing = { seeds: 0, kills: 0, virtualHours: 0, lastFind: null, lastRun: null };
  const file = await scratch.write('tally.json', JSON.stringify(nothing));
  const date = new Date().toISOString().slice(0, 10);
  await addToTally({ seeds: 3, kills: 7, virtualMs: 5_400_000, find: { seed: 'fleet 8', invariant: 'D1' } }, file);
  await addToTally({ seeds: 2, kills: 1, virtualMs: 1_800_000, find: null }, file);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    seeds: 5,
    kills: 8,
    virtualHours: 2,
    lastFind: { date, seed: 'fleet 8', invariant: 'D1' },
    lastRun: {
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      commit: expect.stringMatching(/^[\da-f]+$|^unknown$/),
    },
  });
});
