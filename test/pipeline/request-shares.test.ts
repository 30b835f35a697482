import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freeRequests, keptRequests, pollPace, tooEarlyMs } from '../../src/pipeline/request-shares.ts';
import { someRoom } from './some-room.ts';

const nobody = { creates: 0, publishes: 0 };
const usual = { room: someRoom(), wanted: nobody, intervalMs: 15_000, spent: 1 };

describe('requests are kept', () => {
  test.each([
    [1, 1],
    [3, 1],
    [10, 1],
    [100, 2],
    [1_000, 10],
    [10_000, 100],
  ])('of %i an hour %i for finishing and as many for asking', (limit, kept) => {
    expect(keptRequests(limit)).toBe(kept);
  });

  test('what neither creating, publishing nor finishing needs is free', () => {
    expect(freeRequests(1_000, 1_000, nobody)).toBe(990);
    expect(freeRequests(1_000, 1_000, { creates: 500, publishes: 2 })).toBe(490);
    expect(freeRequests(1_000, 1_000, { creates: 500, publishes: 50 })).toBe(450);
    expect(freeRequests(1_000, 1_000, { creates: 5_000, publishes: 2 })).toBe(10);
    expect(freeRequests(15, 1_000, { creates: 5_000, publishes: 2 })).toBe(5);
  });
});

describe('the sweep asks', () => {
  test('for everything at every interval while half of the hour is left', () => {
    for (const [used, spent] of [
      [0, 1],
      [84, 21],
      [480, 12],
    ] as const)
      expect(pollPace({ ...usual, room: someRoom(used), spent })).toMatchObject({
        everyMs: 15_000,
        pages: Infinity,
        isFree: true,
      });
  });

  test('ever more rarely after that, so that it never runs out', () => {
    expect(pollPace({ ...usual, intervalMs: 2_000, room: someRoom(590) })).toMatchObject({ everyMs: 9_000, pages: 1 });
    expect(pollPace({ ...usual, room: someRoom(890) }).everyMs).toBe(36_000);
    expect(pollPace({ ...usual, room: someRoom(890), spent: 10 }).everyMs).toBe(360_000);
    expect(pollPace({ ...usual, room: someRoom(1_000) }).everyMs).toBe(3_600_000);
  });

  test('rarely and page by page while more records are wanted than there are requests', () => {
    const pace = pollPace({ ...usual, wanted: { creates: 5_000, publishes: 1 } });
    expect(pace).toEqual({ everyMs: 360_000, pages: 1, singles: 2, isFree: false });
  });

  test('as ever while many files wait for their upload and only few can be created within the hour', () => {
    expect(pollPace({ ...usual, wanted: { creates: 60, publishes: 1 } }).isFree).toBe(true);
  });

  test('not while the service asks to wait', () => {
    expect(pollPace({ ...usual, room: { ...someRoom(), closedMs: 5_000 } }).isFree).toBe(false);
  });

  test('on webhooks, with a tenth of the hour at once, and a quarter in the long run', () => {
    const rung = { ...usual, intervalMs: 1_000, cause: 'rung' } as const;
    expect(pollPace({ ...rung, room: someRoom(90) }).everyMs).toBe(1_000);
    expect(pollPace({ ...rung, room: someRoom(91) }).everyMs).toBe(14_400);
  });

  test('never sooner than the interval, and never for nothing', () => {
    fc.assert(
      fc.property(
        fc.nat(1_200),
        fc.integer({ min: 1, max: 1_000 }),
        fc.nat(2_000),
        fc.nat(50),
        (used, limit, creates, spent) => {
          const pace = pollPace({ ...usual, room: someRoom(used, limit), wanted: { creates, publishes: 1 }, spent });
          expect(pace.everyMs).toBeGreaterThanOrEqual(15_000);
          expect(Math.min(pace.pages, pace.singles)).toBeGreaterThanOrEqual(1);
        },
      ),
    );
  });

  // One long video at an interval of 2 s: an hour of questions leaves the other half of the budget.
  test('for hours without using more than about half of the budget', () => {
    const times: number[] = [];
    let most = 0;
    for (let now = 0; now < 4 * 3_600_000;) {
      while ((times[0] ?? Infinity) < now - 3_660_000) times.shift();
      most = Math.max(most, times.length);
      times.push(now);
      now += pollPace({ ...usual, intervalMs: 2_000, room: someRoom(times.length) }).everyMs;
    }
    expect(most).toBeGreaterThan(480);
    expect(most).toBeLessThan(820);
  });
});

describe('a file in processing, where the budget is short,', () => {
  test.each([
    ['is polled at once while nothing is known', null, 0, 0],
    ['is left alone for half the usual time', 60_000, 10_000, 20_000],
    ['is polled after that', 60_000, 31_000, 0],
    ['is left alone for ten minutes at most', 86_400_000, 0, 600_000],
  ])('%s', (_name, usualMs, oldestMs, expected) => {
    expect(tooEarlyMs(oldestMs, usualMs)).toBe(expected);
  });
});
