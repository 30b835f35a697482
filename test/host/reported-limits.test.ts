import type { RateLimit } from '@dropcast/client';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { budgetOfOneHost } from '../../src/host/budget-store.ts';
import type { OwnRow, OwnWindow } from '../../src/host/budget-store.ts';
import {
  block,
  emptyWindow,
  merged,
  roomOf,
  spend,
  spendAhead,
  usageOf,
  withReported,
} from '../../src/host/budget-window.ts';
import type { BudgetWindow } from '../../src/host/budget-window.ts';
import { createGate } from '../../src/host/gate.ts';
import type { Gate } from '../../src/host/gate.ts';
import { limitsOf, withNewer } from '../../src/host/reported-limits.ts';
import type { Clock, RequestPriority } from '../../src/pipeline/file/ports.ts';
import { pollPace } from '../../src/pipeline/request-shares.ts';

const start = Date.UTC(2026, 10, 20, 12, 0, 17);
const hourMs = 3_600_000;
const priorities: readonly RequestPriority[] = ['finish', 'create', 'poll'];

const limit = (remaining: number, resetMs: number, more: Partial<RateLimit> = {}): RateLimit => ({
  name: 'X-RateLimit 100',
  remaining,
  resetMs,
  isPolicyOnly: false,
  ...more,
});

/** A window after a report. */
function told(
  window: BudgetWindow,
  limits: readonly RateLimit[],
  { nowMs = start, unanswered = 0 } = {},
): BudgetWindow {
  const { reported = [], total } = window;
  return withReported(window, limitsOf({ limits, unanswered }, reported, { total, nowMs }), nowMs);
}

/** How many requests of a priority leave at once. */
function drained(window: BudgetWindow, priority: RequestPriority, { nowMs = start, of = 1000 } = {}) {
  for (let granted = 0; ; granted += 1) {
    const spending = spend(window, nowMs, priority, of);
    window = spending.window;
    if (!spending.granted) return { window, granted, waitMs: spending.waitMs };
  }
}

describe('a limit that the service reports', () => {
  test('allows what is left of it, then nothing until its reset, then what the hour allows', () => {
    const first = drained(told(emptyWindow, [limit(5, 10_000)]), 'finish');
    expect([first.granted, first.waitMs]).toEqual([5, 10_000]);
    expect(spend(first.window, start + 9_999, 'finish', 1000).granted).toBe(false);
    expect(drained(first.window, 'finish', { nowMs: start + 10_000 }).granted).toBe(995);
  });

  test.each([0, 3, 50, 999, 1_000_000_000])('never allows more than the hour does: %i left', (remaining) => {
    const spent = drained(emptyWindow, 'finish', { of: 90 }).window;
    for (const priority of priorities)
      expect(drained(told(spent, [limit(remaining, hourMs)]), priority, { of: 100 }).granted).toBeLessThanOrEqual(10);
  });

  test('of which nothing is left holds for every priority, whatever a later answer says', () => {
    const none = told(emptyWindow, [limit(0, 10_000)]);
    const more = told(none, [limit(50, 20_000)], { nowMs: start + 1_000 });
    for (const priority of priorities) {
      expect(spend(more, start + 9_999, priority, 1000)).toMatchObject({ granted: false, waitMs: 1 });
      expect(spend(more, start + 10_000, priority, 1000).granted).toBe(true);
    }
  });

  test('is replaced by the next answer, because others may use more, and some limits refill at any time', () => {
    const window = told(emptyWindow, [limit(5, 10_000)]);
    expect(drained(told(window, [limit(2, 10_000)]), 'finish').granted).toBe(2);
    expect(drained(told(window, [limit(9, 10_000)]), 'finish').granted).toBe(9);
  });

  test('does not include requests that are still unanswered', () => {
    expect(drained(told(emptyWindow, [limit(5, 10_000)], { unanswered: 3 }), 'finish').granted).toBe(2);
    expect(drained(told(emptyWindow, [limit(5, 10_000)], { unanswered: 8 }), 'finish').granted).toBe(0);
  });

  test('holds together with others: the strictest counts', () => {
    const burst = limit(5, 10_000, { name: 'RateLimit 50/10000' });
    const daily = limit(3, hourMs, { name: 'RateLimit 900/86400000' });
    const window = told(emptyWindow, [burst, daily]);
    const { window: after, granted, waitMs } = drained(window, 'finish');
    expect([granted, waitMs]).toEqual([3, hourMs]);
    expect(spend(after, start + 10_000, 'finish', 1000).granted).toBe(false);
  });

  test('keeps its last request for finishing, and the one before it for polls', () => {
    const window = told(emptyWindow, [limit(20, hourMs)]);
    expect(priorities.map((priority) => drained(window, priority).granted)).toEqual([20, 18, 19]);
  });

  test('that is only a policy opens a window once, and not with every answer', () => {
    const policy = limit(49, 10_000, { isPolicyOnly: true });
    const first = drained(told(emptyWindow, [policy]), 'finish');
    expect(first.granted).toBe(49);
    expect(drained(told(first.window, [policy], { nowMs: start + 5_000 }), 'finish').granted).toBe(0);
    const later = { nowMs: start + 10_001 };
    expect(drained(told(first.window, [policy], later), 'finish', later).granted).toBe(49);
  });

  test('bounds the requests that are counted in advance', () => {
    const { window } = spend(told(emptyWindow, [limit(4, 10_000)]), start, 'finish', 1000);
    expect(spendAhead(window, 1000, 7).ahead).toBe(3);
  });

  test('replaces the guess about others after a 429', () => {
    const refusal = { retryAfterMs: 60_000, limit: 1000 };
    const guessed = block(emptyWindow, start, refusal);
    expect(usageOf(guessed, start, 1000).others).toBe(1000);
    expect(usageOf(told(guessed, [limit(0, 60_000)]), start, 1000).others).toBe(0);
    expect(usageOf(block(told(emptyWindow, [limit(0, 60_000)]), start, refusal), start, 1000).others).toBe(0);
  });

  test('survives a store that lost its last writes', () => {
    const known = told(emptyWindow, [limit(0, 10_000)]);
    const other = told(emptyWindow, [limit(7, 20_000, { name: 'RateLimit 50/10000' })]);
    expect(merged(known, other).reported).toHaveLength(2);
    expect(merged(other, known).reported).toHaveLength(2);
    expect(merged(emptyWindow, known).reported).toEqual(known.reported);
  });

  test('is one of at most eight, however many names a service invents', () => {
    const limits = Array.from({ length: 100 }, (_, n) => ({ name: `X-RateLimit ${n}`, usedUpAt: 5, until: start }));
    expect(withNewer([], limits)).toEqual(limits.slice(-8));
  });

  test('lowers what an hour has left by its share, so that a limit of seconds does not slow polling down', () => {
    const room = (limits: readonly RateLimit[]) => roomOf(usageOf(told(emptyWindow, limits), start, 1000));
    expect(room([limit(50, 10_000)]).left).toBe(1000);
    expect(room([limit(50, hourMs / 2)])).toMatchObject({ left: 100, limit: 100 });
    expect(room([limit(0, 10_000)])).toMatchObject({ left: 1000, closedMs: 10_000 });
    const polls = { wanted: { creates: 0, publishes: 0 }, intervalMs: 15_000, spent: 1 };
    expect(pollPace({ room: room([limit(5, 10_000)]), ...polls }).everyMs).toBe(15_000);
    const used = told(drained(emptyWindow, 'finish', { of: 45 }).window, [limit(5, hourMs)]);
    expect(pollPace({ room: roomOf(usageOf(used, start, 1000)), ...polls }).everyMs).toBeGreaterThan(15_000);
  });

  test('never lets more leave than the hour allows and than every report allowed, in any order', () => {
    const step = fc.record({
      afterMs: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 70 * 60_000 })),
      burst: fc.integer({ min: 0, max: 12 }),
      priority: fc.constantFrom(...priorities),
      report: fc.option(fc.tuple(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 1, max: hourMs }))),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 20 }), (steps, of) => {
        const times: number[] = [];
        let window = emptyWindow;
        let now = start;
        let allowed = { left: Infinity, until: 0 };
        for (const { afterMs, burst, priority, report } of steps) {
          now += afterMs;
          if (report !== null) {
            const isFixed = allowed.left === 0 && allowed.until > now && window.reported?.[0]?.usedUpAt === 0;
            window = told(window, [limit(...report)], { nowMs: now });
            if (!isFixed) allowed = { left: report[0], until: now + report[1] };
          }
          for (let n = 0; n < burst; n += 1) {
            const spending = spend(window, now, priority, of);
            window = spending.window;
            if (!spending.granted) continue;
            times.push(now);
            if (allowed.until > now) expect((allowed.left -= 1)).toBeGreaterThanOrEqual(0);
          }
        }
        for (const [index, time] of times.entries())
          expect(times.slice(index).filter((later) => later - time <= hourMs).length).toBeLessThanOrEqual(of);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the gate', () => {
  class MemoryStore implements OwnRow {
    saved: OwnWindow | null = null;
    saves = 0;
    async load(): Promise<OwnWindow | null> {
      return this.saved;
    }
    async save(window: OwnWindow): Promise<void> {
      this.saves += 1;
      this.saved = window;
    }
  }
  const clock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };
  const open = (store: MemoryStore): Gate =>
    createGate({ store: budgetOfOneHost(store, clock, clock.elapsed), limit: 1_000, clock });
  const report = (gate: Gate, ...limits: RateLimit[]) => gate.reported({ limits, unanswered: 0, ignored: [] });

  beforeEach(() => {
    vi.useFakeTimers({ now: start });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('waits for the reset, and then lets the waiting requests leave', async () => {
    const gate = open(new MemoryStore());
    await gate.take('finish');
    report(gate, limit(2, 10_000));
    let left = 0;
    for (let n = 0; n < 6; n += 1) void gate.take('finish').then(() => (left += 1));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(left).toBe(2);
    expect(gate.snapshot()).toMatchObject({ blockedMs: 1, blockedUntil: Date.now() + 1, waiting: 4 });
    await vi.advanceTimersByTimeAsync(1);
    expect(left).toBe(6);
    await gate[Symbol.asyncDispose]();
  });

  test('lets waiting requests leave at once when an answer reports more', async () => {
    const gate = open(new MemoryStore());
    await gate.take('finish');
    report(gate, limit(1, hourMs));
    await gate.take('finish');
    let left = 0;
    void gate.take('finish').then(() => (left += 1));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(left).toBe(0);
    report(gate, limit(3, hourMs));
    await vi.advanceTimersByTimeAsync(0);
    expect(left).toBe(1);
    await gate[Symbol.asyncDispose]();
  });

  test('that may send nothing knows that after a kill', async () => {
    const store = new MemoryStore();
    const killed = open(store);
    await killed.take('finish');
    report(killed, limit(0, 600_000));
    await vi.advanceTimersByTimeAsync(0);
    const gate = open(store);
    let left = 0;
    void gate.take('finish').then(() => (left += 1));
    await vi.advanceTimersByTimeAsync(599_999);
    expect(left).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(left).toBe(1);
  });

  test('writes a limit that has room with the next requests, not after every answer', async () => {
    const store = new MemoryStore();
    const gate = open(store);
    for (let n = 1; n <= 80; n += 1) {
      await gate.take('finish');
      report(gate, limit(900 - n, hourMs));
    }
    expect(store.saves).toBe(10);
    await gate[Symbol.asyncDispose]();
    expect(store.saved?.reported).toMatchObject([{ usedUpAt: 900, until: expect.any(Number) }]);
    const next = open(store);
    await vi.advanceTimersByTimeAsync(0);
    expect(next.snapshot()).toMatchObject({ used: 80, reported: { left: 820 } });
  });

  test('forgets what a service reported once another one is used, on disk too, but not the requests', async () => {
    const store = new MemoryStore();
    const gate = open(store);
    await gate.take('finish');
    report(gate, limit(0, 600_000));
    gate.throttled(300_000);
    await vi.advanceTimersByTimeAsync(0);
    let left = 0;
    void gate.take('finish').then(() => (left += 1));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(left).toBe(0);
    gate.otherService();
    await vi.advanceTimersByTimeAsync(0);
    expect(left).toBe(1);
    expect(gate.snapshot()).toMatchObject({ used: 2, total: 2, blockedUntil: 0, reported: null });
    const next = open(store);
    await vi.advanceTimersByTimeAsync(0);
    expect(next.snapshot()).toMatchObject({ total: 2, blockedUntil: 0, reported: null });
    await gate[Symbol.asyncDispose]();
    expect(store.saved).toMatchObject({ total: 2, blockedUntil: 0 });
    expect(store.saved?.reported).toBeUndefined();
  });

  test('closes without the budget, if it never could be read', async () => {
    const store = new MemoryStore();
    store.load = () => Promise.reject(new Error('the disk is gone'));
    const gate = open(store);
    gate.otherService();
    gate.throttled(1_000);
    await gate[Symbol.asyncDispose]();
    expect(store.saves).toBe(0);
  });

  test('says what is left only if that is less than the hour has', async () => {
    const gate = open(new MemoryStore());
    await gate.take('finish');
    report(gate, limit(5_000, hourMs), limit(50, 10_000, { name: 'RateLimit 50/10000' }));
    expect(gate.snapshot().reported).toBeNull();
    report(gate, limit(400, hourMs));
    expect(gate.snapshot().reported).toEqual({ left: 400, inMs: hourMs });
    await gate[Symbol.asyncDispose]();
  });
});
