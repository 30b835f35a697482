import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../packages/sandbox/src/store/database.ts';
import { RequestWindow } from '../../../packages/sandbox/src/store/request-window.ts';

const HOUR_MS = 3_600_000;

test('8 no rolling hour has more admitted requests than the limit, and none is refused without need', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(HOUR_MS), { maxLength: 40 }), (limit, pausesMs) => {
      const database = openDatabase(':memory:');
      const window = new RequestWindow(database, limit);
      const admittedMs: number[] = [];
      let nowMs = 0;
      for (const pauseMs of pausesMs) {
        nowMs += pauseMs;
        const inHour = admittedMs.filter((atMs) => atMs > nowMs - HOUR_MS).length;
        const { admitted } = window.admit(1, nowMs);
        expect(admitted).toBe(inHour < limit);
        if (admitted) admittedMs.push(nowMs);
      }
      database.close();
    }),
    { numRuns: 40 },
  );
});

test('5.6 keys do not affect each other', () => {
  const window = new RequestWindow(openDatabase(':memory:'), 1);
  expect([window.admit(1, 0), window.admit(2, 0), window.admit(1, 0)].map(({ admitted }) => admitted)).toEqual([
    true,
    true,
    false,
  ]);
});

test('a clock that is set back opens nothing', () => {
  const window = new RequestWindow(openDatabase(':memory:'), 2);
  window.admit(1, HOUR_MS * 10);
  window.admit(1, HOUR_MS);
  expect(window.admit(1, HOUR_MS * 2)).toEqual({ admitted: false, retryAfterS: 9 * 3600 });
});

test('old requests are forgotten', () => {
  const database = openDatabase(':memory:');
  const window = new RequestWindow(database, 1_000_000);
  for (let index = 0; index < 3000; index += 1) window.admit(1, index * 60_000);
  expect(Number(database.prepare('SELECT COUNT(*) AS n FROM api_requests').get()?.['n'])).toBeLessThan(600);
});
