import { array, assert, double, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { bytesPerSecond, etaMs, withSample } from '../../../src/cli/output/progress-view.ts';
import type { Sample } from '../../../src/cli/output/progress-view.ts';

const samples = (list: readonly (readonly [number, number])[]) =>
  list.reduce<readonly Sample[]>((known, [atMs, bytes]) => withSample(known, { atMs, bytes }), []);

test('a steady transfer has its rate', () => {
  const steady = samples(Array.from({ length: 100 }, (_, step) => [step * 200, step * 200_000] as const));
  expect(bytesPerSecond(steady, 99 * 200)).toBeCloseTo(1e6);
});

test('a change of speed is smoothed over five seconds', () => {
  const faster = samples([
    ...Array.from({ length: 26 }, (_, step) => [step * 200, 0] as const),
    [7_500, 2_500_000],
    [10_000, 5_000_000],
  ]);
  expect(bytesPerSecond(faster, 10_000)).toBeCloseTo(1e6);
});

test('a stalled transfer drops to zero instead of staying at its last rate', () => {
  const stalled = samples([
    [0, 0],
    [1_000, 1_000_000],
  ]);
  expect(bytesPerSecond(stalled, 1_000)).toBe(1e6);
  expect(bytesPerSecond(stalled, 4_000)).toBe(250_000);
  expect(bytesPerSecond(stalled, 20_000)).toBe(0);
});

test('bytes that go back, as in a second attempt, restart the measurement', () => {
  expect(
    samples([
      [0, 0],
      [1_000, 900],
      [2_000, 10],
    ]),
  ).toEqual([{ atMs: 2_000, bytes: 10 }]);
});

test('nothing is said from too little', () => {
  expect([
    bytesPerSecond([], 0),
    bytesPerSecond(samples([[0, 0]]), 0),
    bytesPerSecond(
      samples([
        [0, 0],
        [10, 5],
      ]),
      10,
    ),
  ]).toEqual([null, null, null]);
});

test('the time left is known only while something moves', () => {
  expect([etaMs(1_000, 500), etaMs(0, null), etaMs(-5, 0)]).toEqual([2_000, 0, 0]);
  expect([etaMs(1, null), etaMs(1, 0), etaMs(1, NaN), etaMs(1e18, 1), etaMs(NaN, 1), etaMs(Infinity, 1)]).toEqual([
    null,
    null,
    null,
    null,
    null,
    null,
  ]);
});

test('whatever is measured, rate and time left are numbers from 0 on, or unknown, and few samples are kept', () => {
  const sample = record({ atMs: double({ min: 0, max: 1e6 }), bytes: double() });
  assert(
    property(array(sample, { maxLength: 200 }), double(), double(), (list, nowMs, remaining) => {
      const kept = list.reduce<readonly Sample[]>(withSample, []);
      const rate = bytesPerSecond(kept, nowMs);
      const eta = etaMs(remaining, rate);
      for (const value of [rate, eta]) expect(value === null || (Number.isFinite(value) && value >= 0)).toBe(true);
    }),
  );
  expect(samples(Array.from({ length: 5_000 }, (_, step) => [step * 3, step] as const)).length).toBeLessThan(60);
});
