import { expect, test } from 'vitest';
import { traceOneFile } from './trace-one-file.ts';
import { hopsBelow } from './walk.ts';
import type { Hop } from './walk.ts';

test('a real file takes the walk of docs/design.md: every function is called, in that order', async () => {
  const { starting, working } = await traceOneFile();
  expect(firstNotTaken(hopsBelow('Start'), starting)).toBeNull();
  expect(firstNotTaken(hopsBelow('One file'), working)).toBeNull();
});

/** The first hop that was not called after the one before it, or null. */
function firstNotTaken(hops: readonly Hop[], calls: readonly string[]): Hop | null {
  let from = 0;
  for (const hop of hops) {
    const at = calls.indexOf(`${hop.file} ${hop.function}`, from);
    if (at === -1) return hop;
    from = at + 1;
  }
  return null;
}

test('a hop that was not called, or too early, is found', () => {
  const hop = (name: string): Hop => ({ number: 1, file: 'a.ts', function: name });
  const calls = ['a.ts one', 'a.ts two', 'a.ts three'];
  expect(firstNotTaken([hop('one'), hop('three')], calls)).toBeNull();
  expect(firstNotTaken([hop('two'), hop('one')], calls)).toEqual(hop('one'));
  expect(firstNotTaken([hop('four')], calls)).toEqual(hop('four'));
});
