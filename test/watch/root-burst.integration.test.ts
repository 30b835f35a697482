import { expect, test } from 'vitest';
import { Root } from '../../src/watch/root.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { FakeClock } from './fake-clock.ts';
import { noRoots } from './no-roots.ts';

test('files that settle at the same moment share one look at their folder', async () => {
  await using scratch = await scratchDirectory();
  const clock = new FakeClock();
  let looks = 0;
  const root = new Root({
    path: scratch.path,
    clock,
    inventory: { taken: new Map() },
    claim: {
      hold: async () => {
        looks += 1;
        return { isSound: true };
      },
      trustNext: () => undefined,
      mark: async () => null,
    },
    roots: noRoots,
    logger: silentLogger,
    signal: new AbortController().signal,
    gap: () => null,
    note: () => null,
    changed: () => undefined,
    scanSoon: () => undefined,
  });
  await root.begin(new Set(), new Map());
  looks = 0;
  const answers = await Promise.all(Array.from({ length: 100 }, () => root.isSound()));
  expect(new Set(answers)).toEqual(new Set([true]));
  expect(looks).toBe(1);
  clock.advance(1_000);
  await root.isSound();
  expect(looks).toBe(2);
});
