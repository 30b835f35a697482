import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLoop } from '../../src/pipeline/loop.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'setImmediate'] }));
afterEach(() => void vi.useRealTimers());

interface Ticking extends AsyncDisposable {
  readonly loop: ReturnType<typeof createLoop>;
  /** Ticks in so many seconds. */
  in(seconds: number): Promise<number>;
}

function begin(isShared: boolean): Ticking {
  let ticks = 0;
  const loop = createLoop({
    clock: { now: () => performance.now(), elapsed: () => performance.now() },
    isShared,
    tick: async () => void (ticks += 1),
    broke: () => undefined,
  });
  loop.start();
  return {
    loop,
    in: async (seconds) => {
      const before = ticks;
      await vi.advanceTimersByTimeAsync(1_000 * seconds);
      return ticks - before;
    },
    [Symbol.asyncDispose]: async () => {
      const stopped = loop.stop();
      await vi.advanceTimersByTimeAsync(100);
      await stopped;
    },
  };
}

test('it looks every second', async () => {
  await using ticking = begin(false);
  await ticking.in(20);
  expect(await ticking.in(30)).toBe(30);
});

test('with a database to query, it looks every three seconds while nothing happens, and every second for some time after something did', async () => {
  await using ticking = begin(true);
  await ticking.in(20);
  expect(await ticking.in(30)).toBe(10);
  ticking.loop.wake();
  expect(await ticking.in(0.5)).toBe(1);
  expect(await ticking.in(8)).toBe(8);
  await ticking.in(10);
  expect(await ticking.in(30)).toBe(10);
  ticking.loop.ringAt('alarm', performance.now() + 400);
  expect(await ticking.in(0.5)).toBe(1);
});
