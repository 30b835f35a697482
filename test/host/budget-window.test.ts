import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  believedWait,
  block as blockWindow,
  ceilingOf,
  emptyWindow,
  requestsPerWrite,
  spend,
  usedOf,
  spendAhead,
} from '../../src/host/budget-window.ts';
import { othersNow } from '../../src/host/budget-window.ts';
import { keptRequests } from '../../src/pipeline/request-shares.ts';
import type { BudgetWindow } from '../../src/host/budget-window.ts';
import type { RequestPriority } from '../../src/pipeline/file/ports.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const start = Date.UTC(2026, 10, 20, 12, 0, 17);
const priorities: readonly RequestPriority[] = ['finish', 'create', 'poll'];

const block = (window: BudgetWindow, nowMs: number, retryAfterMs: number | undefined): BudgetWindow =>
  blockWindow(window, nowMs, { retryAfterMs, limit: 100 });

/** Takes as much as it gets at one moment. */
function drain(
  window: BudgetWindow,
  nowMs: number,
  priority: RequestPriority,
  limit: number,
): { window: BudgetWindow; granted: number; waitMs: number } {
  for (let granted = 0; ; granted++) {
    const spending = spend(window, nowMs, priority, limit);
    window = spending.window;
    if (!spending.granted) return { window, granted, waitMs: spending.waitMs };
  }
}

describe('the hourly budget', () => {
  test('gives a whole hour at once, and says when there is room again', () => {
    const { window, granted, waitMs } = drain(emptyWindow, start, 'finish', 1000);
    expect(granted).toBe(1000);
    expect(waitMs).toBeGreaterThan(hourMs - 60_000);
    expect(waitMs).toBeLessThanOrEqual(hourMs + 60_000);
    expect(spend(window, start + waitMs - 1, 'finish', 1000).granted).toBe(false);
    expect(spend(window, start + waitMs, 'finish', 1000).granted).toBe(true);
  });

  test('gives more than 95 % of the limit in every hour of sustained use', () => {
    let window = emptyWindow;
    let granted = 0;
    for (let now = start; now < start + 5 * hourMs; now += 1000) {
      const spending = spend(window, now, 'finish', 1000);
      window = spending.window;
      if (spending.granted) granted++;
    }
    expect(granted).toBeGreaterThan(950 * 5);
  });

  test('never grants more than the limit in any rolling hour', () => {
    const step = fc.record({
      afterMs: fc.oneof(fc.integer({ min: 0, max: 90_000 }), fc.integer({ min: 0, max: 70 * 60_000 })),
      burst: fc.integer({ min: 1, max: 12 }),
      priority: fc.constantFrom(...priorities),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (steps, limit) => {
        const times: number[] = [];
        let window = emptyWindow;
        let now = start;
        for (const { afterMs, burst, priority } of steps) {
          now += afterMs;
          for (let i = 0; i < burst; i++) {
            const spending = spend(window, now, priority, limit);
            window = spending.window;
            if (spending.granted) times.push(now);
          }
        }
        for (const [index, time] of times.entries()) {
          const within = times.slice(index).filter((later) => later - time <= hourMs).length;
          expect(within).toBeLessThanOrEqual(limit);
        }
        expect(window.minutes.length).toBeLessThanOrEqual(61);
        expect(window.total).toBe(times.length);
      }),
      { numRuns: 300 },
    );
  });

  test('keeps room for polling and for finishing what has begun', () => {
    const created = drain(emptyWindow, start, 'create', 1000);
    const polled = drain(created.window, start, 'poll', 1000);
    const finished = drain(polled.window, start, 'finish', 1000);
    expect([created.granted, polled.granted, finished.granted]).toEqual([980, 10, 10]);
  });

  test.each([
    [1, 1, 1, 1],
    [2, 1, 1, 2],
    [3, 1, 2, 3],
    [10, 8, 9, 10],
    [100, 96, 98, 100],
    [1_000, 980, 990, 1_000],
  ])('with a limit of %i, create may fill %i, poll %i, finish %i', (limit, create, poll, finish) => {
    const room = { limit, toFinish: keptRequests(limit), others: 0 };
    const ceilings = (['create', 'poll', 'finish'] as const).map((priority) => ceilingOf(priority, room));
    expect(ceilings).toEqual([create, poll, finish]);
  });

  test('what is kept to finish is given free as the time comes nearer in which as much falls out of the hour', () => {
    let { window } = drain(emptyWindow, start, 'create', 1_000);
    expect(usedOf(window)).toBe(980);
    const more = [10, 31, 45, 60].map((minutes) => {
      const drained = drain(window, start + minutes * 60_000, 'create', 1_000);
      ({ window } = drained);
      return usedOf(window);
    });
    expect(more).toEqual([981, 985, 987, 989]);
    expect(drain(window, start + 60 * 60_000, 'poll', 1_000).granted).toBe(10);
    expect(drain(window, start + 60 * 60_000, 'finish', 1_000).granted).toBe(11);
  });

  test('what others use is left to them, but not what finishes work that was begun', () => {
    const { window } = drain({ ...emptyWindow, others: { requests: 300, at: start } }, start, 'create', 1_000);
    expect(usedOf(window)).toBe(680);
    const polled = drain(window, start, 'poll', 1_000);
    expect(polled.granted).toBe(10);
    expect(drain(polled.window, start, 'finish', 1_000).granted).toBe(310);
  });

  test('a lowered limit counts what was spent under the higher one', () => {
    const { window } = drain(emptyWindow, start, 'finish', 50);
    expect(spend(window, start + 1000, 'finish', 10).granted).toBe(false);
    expect(usedOf(window)).toBe(50);
  });
});

describe('a block', () => {
  test('blocks every priority for as long as the service asks, then lets one request go first', () => {
    const window = block(emptyWindow, start, 30_000);
    for (const priority of priorities) expect(spend(window, start + 29_999, priority, 100).granted).toBe(false);
    const probe = spend(window, start + 30_000, 'poll', 100);
    expect(probe.granted).toBe(true);
    const second = spend(probe.window, start + 30_001, 'finish', 100);
    expect(second).toMatchObject({ granted: false, waitMs: 1999 });
    expect(drain(second.window, start + 32_000, 'finish', 100).granted).toBe(99);
  });

  test.each([
    [undefined, 60_000],
    [0, 1000],
    [7 * dayMs, hourMs],
  ])('a wait of %s ms is taken as %i ms', (asked, expected) => {
    expect(block(emptyWindow, start, asked).blockedUntil - start).toBe(expected);
  });

  test('is never shortened by a later, smaller one', () => {
    const window = block(block(emptyWindow, start, 600_000), start, 1000);
    expect(window.blockedUntil).toBe(start + 600_000);
  });

  test('survives being written as JSON', () => {
    const window = block(drain(emptyWindow, start, 'create', 20).window, start, 5000);
    expect(JSON.parse(JSON.stringify(window))).toEqual(window);
  });
});

test('what is counted ahead is on disk as spent, and never more than the limit', () => {
  const one = drain(emptyWindow, start, 'create', 1).window;
  expect(spendAhead(one, 1_000, requestsPerWrite(1_000) - 1)).toMatchObject({
    ahead: 7,
    window: { minutes: [[expect.any(Number), 8]], total: 1 },
  });
  expect(spendAhead(one, 300, requestsPerWrite(300) - 1).ahead).toBe(2);
  expect(spendAhead(one, 100, requestsPerWrite(100) - 1).ahead).toBe(0);
  const most = drain(emptyWindow, start, 'finish', 998).window;
  expect(spendAhead(most, 1_000, requestsPerWrite(1_000) - 1).ahead).toBe(2);
  expect(spendAhead(emptyWindow, 1_000, requestsPerWrite(1_000) - 1).ahead).toBe(0);
  const probing = spend(block(one, start, 1_000), start + 1_000, 'finish', 1_000).window;
  expect(spendAhead(probing, 1_000, requestsPerWrite(1_000) - 1).ahead).toBe(0);
});

test('what others used fades within an hour, however the clock is set', () => {
  const others = { requests: 300, at: start };
  const minutes = [0, 15, 30, 60, 600, -15, -600];
  expect(minutes.map((passed) => othersNow(others, start + passed * 60_000))).toEqual([300, 225, 150, 0, 0, 225, 0]);
});

test('a wait that the service asks for is limited to between a second and an hour', () => {
  expect([0, 1500, 86_400_000].map(believedWait)).toEqual([1000, 1500, 3_600_000]);
});
