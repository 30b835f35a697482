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
