import { expect, test } from 'vitest';
import { restedLines, restFactor } from '../../src/view/outlook.ts';

/** A ledger that takes so long to read its lines, of which there is another number each time. */
function slow(tookMs: number) {
  let now = 0;
  let reads = 0;
  const lines = restedLines(
    {
      lines: async () => {
        now += tookMs;
        reads += 1;
        return [
          { state: 'queued', folder: '/in', priority: 'normal', isBig: false, isUrgent: false, files: reads, bytes: 0 },
        ];
      },
    },
    { now: () => now, elapsed: () => now },
  );
  return {
    pass: (ms: number) => (now += ms),
    files: async () => (await lines([]))[0]?.files,
  };
}

test('lines that take long to read are read again only after a rest that is in proportion', async () => {
  const ledger = slow(24);
  for (let n = 0; n < 100; n += 1) expect(await ledger.files()).toBe(1);
  ledger.pass(restFactor * 24 - 1);
  expect(await ledger.files()).toBe(1);
  ledger.pass(1);
  expect(await ledger.files()).toBe(2);
});

test('short lines are always new', async () => {
  const ledger = slow(1);
  expect(await ledger.files()).toBe(1);
  expect(await ledger.files()).toBe(2);
});
