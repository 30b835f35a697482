import { expect, test } from 'vitest';
import { createEventKeeper } from '../../src/daemon/news/lines.ts';

test('events that the ledger refuses are written with the next one that it takes, once and in order', async () => {
  const written: (readonly unknown[])[] = [];
  const refusals: unknown[] = [];
  let isFull = false;
  const keep = createEventKeeper(
    async (rows) => {
      if (isFull) throw new Error('the disk is full');
      written.push(rows.map(({ line }) => line));
    },
    (error) => refusals.push(error),
  );
  const row = (line: number) => ({ host: 'here', at: line, line });
  await keep(row(1));
  isFull = true;
  await Promise.all([2, 3].map((line) => keep(row(line))));
  expect([written.flat(), refusals.length]).toEqual([[1], 2]);
  isFull = false;
  await Promise.all([4, 5].map((line) => keep(row(line))));
  expect(written.flat()).toEqual([1, 2, 3, 4, 5]);
  // Without bound, a full disk would fill the memory.
  isFull = true;
  await Promise.all(Array.from({ length: 2_000 }, (_, n) => keep(row(n))));
  isFull = false;
  await keep(row(9_999));
  expect(written.flat().length).toBe(5 + 1_000);
});
