import { expect, test } from 'vitest';
import { clairvoyant, dropsOf, live, ours } from './virtual-day.ts';
import type { Outcome } from './virtual-day.ts';

const seeds = [1, 2, 3, 4, 5, 6, 7, 8];

/** One start in so many goes to a file without a deadline, as docs/configuration.md promises. */
const othersOneIn = 17;

const both = ({ met }: Outcome, other: Outcome): number => met.intersection(other.met).size;

test('eight days of a desk: the deadlines that clairvoyant EDF meets are met, no file without one starves, and no alarm is false', async () => {
  const sum = { clairvoyant: 0, both: 0, ours: 0, fifo: 0, called: 0 };
  for (const seed of seeds) {
    const drops = dropsOf(seed);
    const best = await live(drops, clairvoyant());
    const fair = await live(drops, clairvoyant(othersOneIn));
    const own = await live(drops, ours);
    const fifo = await live(drops, ours, false);
    // Who gives the others the same share and knows all processing times hardly meets more, on any day.
    expect(own.met.size, `seed ${seed}`).toBeGreaterThanOrEqual(0.99 * fair.met.size);
    expect(own.mostInARow, `seed ${seed}`).toBeLessThan(othersOneIn);
    expect(own.longestWaitMs, `seed ${seed}`).toBeLessThan(1.25 * fifo.longestWaitMs);
    expect([...own.calledLate.intersection(own.met)], `seed ${seed}`).toEqual([]);
    sum.clairvoyant += best.met.size;
    sum.both += both(best, own);
    sum.ours += own.met.size;
    sum.fifo += fifo.met.size;
    sum.called += own.calledLate.size;
  }
  // Nor does who gives the others nothing, over all days.
  expect(sum.both).toBeGreaterThanOrEqual(0.99 * sum.clairvoyant);
  expect(sum.fifo).toBeLessThan(0.8 * sum.ours);
  expect(sum.called).toBeGreaterThan(10);
});
