import { expect, test } from 'vitest';
import { watchForStalls } from '../../src/watch/clock.ts';
import { FakeClock } from './fake-clock.ts';

test('a stall is reported once, with its length; regular ticks are not', () => {
  const clock = new FakeClock();
  let lateBy = 0;
  const stalls: number[] = [];
  const blockable = { elapsed: () => clock.elapsed() + lateBy, after: clock.after.bind(clock) };
  const stop = watchForStalls(blockable, (ms) => stalls.push(ms));
  clock.advance(10_000);
  lateBy = 8000;
  clock.advance(10_000);
  expect(stalls).toEqual([8000]);
  stop();
  expect(clock.timers).toBe(0);
});

test('all who want to know of stalls share one timer, which ends with the last of them', () => {
  const clock = new FakeClock();
  let lateBy = 0;
  const blockable = { elapsed: () => clock.elapsed() + lateBy, after: clock.after.bind(clock) };
  const told: string[] = [];
  const stops = ['a', 'b', 'c'].map((name) => watchForStalls(blockable, () => told.push(name)));
  expect(clock.timers).toBe(1);
  stops[0]?.();
  lateBy = 8000;
  clock.advance(1000);
  expect(told).toEqual(['b', 'c']);
  for (const stop of stops) stop();
  expect(clock.timers).toBe(0);
  watchForStalls(blockable, () => told.push('d'))();
  expect(clock.timers).toBe(0);
});
