import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import fc from 'fast-check';
import { emptyWindow, usedOf } from '../../src/host/budget-window.ts';
import { AbortedError } from '../../packages/client/src/errors.ts';
import { createGate } from '../../src/host/gate.ts';
import { budgetOfOneHost } from '../../src/host/budget-store.ts';
import type { OwnRow, OwnWindow } from '../../src/host/budget-store.ts';
import type { Clock, RequestPriority } from '../../src/pipeline/file/ports.ts';

class MemoryStore implements OwnRow {
  saved: OwnWindow | null = null;
  saves = 0;
  failure: Error | null = null;
  async load(): Promise<OwnWindow | null> {
    return this.saved;
  }
  async save(window: OwnWindow): Promise<void> {
    if (this.failure !== null) throw this.failure;
    this.saves += 1;
    this.saved = window;
  }
}

const fakeClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

function openGate({ limit = 10, store = new MemoryStore(), clock = fakeClock, uptimeMs = fakeClock.elapsed } = {}) {
  const gate = createGate({ store: budgetOfOneHost(store, clock, uptimeMs), limit, clock });
  return { gate, store };
}

/** Asks and notes in which order the answers come. */
function ask(
  gate: ReturnType<typeof openGate>['gate'],
  order: string[],
  priority: RequestPriority,
  name: string = priority,
): void {
  void gate.take(priority).then(
    () => order.push(name),
    (error: Error) => order.push(`${name}: ${error.name}`),
  );
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 20, 12) });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the gate', () => {
  test('has every request on disk before it lets it go', async () => {
    const { gate, store } = openGate();
    await gate.take('create');
    expect(store.saved).toMatchObject({ total: 1 });
    expect(gate.snapshot()).toEqual({
      used: 1,
      limit: 10,
      blockedUntil: 0,
      blockedMs: 0,
      reported: null,
      waiting: 0,
      total: 1,
      frees: [[61 * 60_000, 1]],
      others: 0,
    });
  });

  test.each([1, 2, 3, 10])(
    'with %i requests an hour, creates that never end leave a turn to questions',
    async (limit) => {
      const { gate } = openGate({ limit });
      const order: string[] = [];
      const create = async (): Promise<void> => {
        for (;;) {
          await gate.take('create');
          order.push('create');
        }
      };
      void create().catch(() => undefined);
      void create().catch(() => undefined);
      ask(gate, order, 'poll');
      await vi.advanceTimersByTimeAsync(4 * 61 * 60_000);
      expect(order).toContain('poll');
      expect(order).toContain('create');
      await gate[Symbol.asyncDispose]();
    },
  );

  test('continues with what was spent before a restart', async () => {
    const { gate: before, store } = openGate({ limit: 3 });
    for (let i = 0; i < 3; i++) await before.take('finish');
    await before[Symbol.asyncDispose]();
    const { gate } = openGate({ limit: 3, store });
    const order: string[] = [];
    ask(gate, order, 'finish');
    await vi.advanceTimersByTimeAsync(59 * 60_000);
    expect(order).toEqual([]);
    await vi.advanceTimersByTimeAsync(3 * 60_000);
    expect(order).toEqual(['finish']);
  });

  test('tells what was spent before a restart without being asked for a request', async () => {
    const store = new MemoryStore();
    store.saved = { ...emptyWindow, minutes: [[Math.floor(Date.now() / 60_000), 7]], total: 70 };
    const { gate } = openGate({ store });
    await vi.advanceTimersByTimeAsync(0);
    expect(gate.snapshot()).toMatchObject({ used: 7, total: 70 });
  });

  test('serves finish before create before poll, and in order within one', async () => {
    const { gate } = openGate({ limit: 100 });
    const order: string[] = [];
    for (const [priority, name] of [
      ['poll', 'p1'],
      ['create', 'c1'],
      ['poll', 'p2'],
      ['finish', 'f1'],
      ['create', 'c2'],
    ] as const) {
      ask(gate, order, priority, name);
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['f1', 'c1', 'c2', 'p1', 'p2']);
  });

  test('lets a poll through while creating has used up its share', async () => {
    const { gate } = openGate({ limit: 10 });
    for (let i = 0; i < 8; i++) await gate.take('create');
    const order: string[] = [];
    ask(gate, order, 'create');
    ask(gate, order, 'poll');
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['poll']);
    expect(gate.snapshot().waiting).toBe(1);
    await gate[Symbol.asyncDispose]();
  });

  test('tells how long requests have waited, those that still do included, and no less when they give up', async () => {
    const { gate } = openGate({ limit: 1 });
    await gate.take('finish');
    expect(gate.waitedMs()).toEqual({ finish: 0, create: 0, poll: 0 });
    const aborted = new AbortController();
    const waiting = gate.take('create', aborted.signal).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(gate.waitedMs().create).toBe(60_000);
    aborted.abort();
    await waiting;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(gate.waitedMs()).toEqual({ finish: 0, create: 60_000, poll: 0 });
    await gate[Symbol.asyncDispose]();
  });

  test('a 429 holds everybody as long as asked, on disk too, and then lets one go first', async () => {
    const { gate, store } = openGate({ limit: 100 });
    await gate.take('poll');
    gate.throttled(90_000);
    const order: string[] = [];
    ask(gate, order, 'finish', 'first');
    ask(gate, order, 'finish', 'second');
    await vi.advanceTimersByTimeAsync(89_999);
    expect(order).toEqual([]);
    expect(store.saved?.blockedUntil).toBe(gate.snapshot().blockedUntil);
    await vi.advanceTimersByTimeAsync(1);
    expect(order).toEqual(['first']);
    await vi.advanceTimersByTimeAsync(2000);
    expect(order).toEqual(['first', 'second']);
  });

  test('a request that cannot be written down is refused and not counted', async () => {
    const { gate, store } = openGate();
    store.failure = new Error('disk full');
    await expect(gate.take('create')).rejects.toThrow('disk full');
    expect(gate.snapshot().used).toBe(0);
    store.failure = null;
    await expect(gate.take('create')).resolves.toBeUndefined();
  });

  test('an aborted waiter leaves the queue, and the next one is served', async () => {
    const { gate } = openGate({ limit: 1 });
    await gate.take('finish');
    const stop = new AbortController();
    const waiting = gate.take('finish', stop.signal);
    stop.abort();
    await expect(waiting).rejects.toThrow(AbortedError);
    await expect(gate.take('finish', stop.signal)).rejects.toThrow(AbortedError);
    expect(gate.snapshot().waiting).toBe(0);
    await gate[Symbol.asyncDispose]();
  });

  test('a raised limit serves those who wait at once', async () => {
    const { gate } = openGate({ limit: 1 });
    await gate.take('finish');
    const order: string[] = [];
    ask(gate, order, 'finish');
    gate.setLimit(2);
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['finish']);
  });

  test('leaves no timer and no waiter behind when it is closed', async () => {
    const { gate } = openGate({ limit: 1 });
    await gate.take('finish');
    const order: string[] = [];
    ask(gate, order, 'poll');
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(1);
    await gate[Symbol.asyncDispose]();
    expect(order).toEqual(['poll: AbortedError']);
    expect(vi.getTimerCount()).toBe(0);
    await expect(gate.take('finish')).rejects.toThrow(AbortedError);
  });

  test('needs no timer while nothing waits', async () => {
    const { gate } = openGate();
    await gate.take('finish');
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

const savedUse = ({ saved }: MemoryStore): number => usedOf(saved ?? emptyWindow);

describe('a few requests are written ahead', () => {
  test('that are on disk before the first of them leaves, so that a busy minute takes few writes', async () => {
    const { gate, store } = openGate({ limit: 1_000 });
    for (let sent = 1; sent <= 80; sent += 1) {
      await gate.take(sent % 2 === 0 ? 'create' : 'poll');
      expect(savedUse(store)).toBeGreaterThanOrEqual(sent);
      expect(gate.snapshot().used).toBe(sent);
    }
    expect(store.saves).toBe(10);
  });

  test.each([1, 3, 8, 9])(
    'a kill after %i requests loses those that were written ahead at most, and nothing is spent twice',
    async (sent) => {
      const { gate, store } = openGate({ limit: 1_000 });
      for (let n = 0; n < sent; n += 1) await gate.take('finish');
      const { gate: next } = openGate({ limit: 1_000, store });
      await vi.advanceTimersByTimeAsync(0);
      expect(next.snapshot().used).toBeGreaterThanOrEqual(sent);
      expect(next.snapshot().used).toBeLessThanOrEqual(sent + 7);
      expect(next.snapshot().total).toBeLessThanOrEqual(sent);
    },
  );

  test('a stop gives back what was not used', async () => {
    const { gate, store } = openGate({ limit: 1_000 });
    await gate.take('finish');
    await gate[Symbol.asyncDispose]();
    expect(savedUse(store)).toBe(1);
  });

  test('a small limit has none: a kill would cost much of it', async () => {
    const { gate, store } = openGate({ limit: 100 });
    for (let n = 0; n < 5; n += 1) await gate.take('create');
    expect(savedUse(store)).toBe(5);
  });

  // What leaves a minute later counts a minute longer.
  test('what was written ahead ends with its minute', async () => {
    const { gate, store } = openGate({ limit: 1_000 });
    await gate.take('finish');
    await vi.advanceTimersByTimeAsync(60_000);
    await gate.take('finish');
    expect(store.saved?.minutes.map(([, count]) => count)).toEqual([1, 8]);
  });

  test('a 429 ends what was written ahead, and what it says is on disk before anything else leaves', async () => {
    const { gate, store } = openGate({ limit: 1_000 });
    await gate.take('finish');
    gate.throttled(30_000);
    const order: string[] = [];
    ask(gate, order, 'finish');
    await vi.advanceTimersByTimeAsync(29_000);
    expect([order, savedUse(store)]).toEqual([[], 1]);
    expect(store.saved?.blockedUntil).toBe(Date.now() + 1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([order, savedUse(store)]).toEqual([['finish'], 2]);
  });

  test('requests that cannot be written ahead do not leave', async () => {
    const { gate, store } = openGate({ limit: 1_000 });
    store.failure = new Error('disk full');
    await expect(gate.take('create')).rejects.toThrow('disk full');
    store.failure = null;
    await gate.take('create');
    expect([gate.snapshot().used, savedUse(store)]).toEqual([1, 8]);
  });

  test('no rolling hour has more than the limit, whenever the daemon is killed', async () => {
    const step = fc.record({
      afterMs: fc.oneof(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 0, max: 40 * 60_000 })),
      burst: fc.integer({ min: 1, max: 300 }),
      priority: fc.constantFrom<RequestPriority>('finish', 'create', 'poll'),
      isKilled: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const store = new MemoryStore();
        const sent: number[] = [];
        let { gate } = openGate({ limit: 800, store });
        let stop = new AbortController();
        for (const { afterMs, burst, priority, isKilled } of steps) {
          for (let n = 0; n < burst; n += 1)
            void gate.take(priority, stop.signal).then(
              () => sent.push(Date.now()),
              () => undefined,
            );
          await vi.advanceTimersByTimeAsync(afterMs);
          if (!isKilled) continue;
          const before = store.saved;
          stop.abort();
          await gate[Symbol.asyncDispose]();
          // Nobody gave anything back.
          store.saved = before;
          stop = new AbortController();
          ({ gate } = openGate({ limit: 800, store }));
        }
        stop.abort();
        await gate[Symbol.asyncDispose]();
        for (const [index, time] of sent.entries()) {
          const within = sent.slice(index).filter((later) => later - time <= 3_600_000).length;
          expect(within).toBeLessThanOrEqual(800);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('others who use the key', () => {
  test('are noticed by a 429 although our own hour has room, are yielded to, and fade within an hour', async () => {
    const { gate, store } = openGate({ limit: 1_000 });
    for (let n = 0; n < 650; n += 1) await gate.take('create');
    expect(gate.snapshot().others).toBe(0);
    gate.throttled(120_000);
    await vi.advanceTimersByTimeAsync(120_000);
    const { others } = gate.snapshot();
    expect(others).toBeGreaterThan(300);
    expect(others).toBeLessThanOrEqual(350);
    expect(store.saved?.others).toBeDefined();
    const order: string[] = [];
    for (let n = 0; n < 30; n += 1) ask(gate, order, 'create');
    ask(gate, order, 'finish');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(order).toContain('finish');
    expect(order.length).toBeLessThan(15);
    await vi.advanceTimersByTimeAsync(20 * 60_000);
    expect(order).toHaveLength(31);
    await vi.advanceTimersByTimeAsync(40 * 60_000);
    expect(gate.snapshot().others).toBe(0);
    await gate[Symbol.asyncDispose]();
  });

  test('are remembered over a restart', async () => {
    const { gate, store } = openGate({ limit: 1_000 });
    await gate.take('finish');
    gate.throttled(60_000);
    await gate[Symbol.asyncDispose]();
    const { gate: next } = openGate({ limit: 1_000, store });
    await vi.advanceTimersByTimeAsync(0);
    expect(next.snapshot().others).toBe(999);
    await next[Symbol.asyncDispose]();
  });

  test.each([
    ['a wait of seconds is a limit of bursts', 10_000, 50],
    ['it does not say how long to wait, as the service does and a proxy may not', undefined, 50],
    ['our own hour is used up', 60_000, 100],
  ])('are not blamed when %s', async (_name, retryAfterMs, used) => {
    const { gate } = openGate({ limit: 100 });
    for (let n = 0; n < used; n += 1) await gate.take('finish');
    gate.throttled(retryAfterMs);
    expect(gate.snapshot().others).toBe(0);
    await gate[Symbol.asyncDispose]();
  });
});

describe('a system clock that is set while the daemon runs', () => {
  test.each([-10 * 86_400_000, -3_600_000, 3_600_000, 10 * 86_400_000])(
    'by %i ms neither lengthens nor shortens a block or the hour',
    async (jump) => {
      let offset = 0;
      const clock = { now: () => Date.now() + offset, elapsed: () => performance.now() };
      const { gate } = openGate({ limit: 3, clock });
      const order: string[] = [];
      await gate.take('finish');
      gate.throttled(30_000);
      offset = jump;
      expect(gate.snapshot().blockedUntil - clock.now()).toBe(30_000);
      ask(gate, order, 'finish', 'blocked');
      await vi.advanceTimersByTimeAsync(29_000);
      expect(order).toEqual([]);
      await vi.advanceTimersByTimeAsync(4_000);
      expect(order).toEqual(['blocked']);
      await gate.take('finish');
      ask(gate, order, 'finish', 'next hour');
      await vi.advanceTimersByTimeAsync(3_000_000);
      expect(order).toEqual(['blocked']);
      await vi.advanceTimersByTimeAsync(1_000_000);
      expect(order).toEqual(['blocked', 'next hour']);
      await gate[Symbol.asyncDispose]();
    },
  );
});

describe('a system clock that is set while the daemon does not run', () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  const year = 365 * day;

  /** A life of the daemon on a machine whose wall clock is off by so much; `bootedAt` by the clock that no one sets. */
  const start = (store: MemoryStore, offMs: number, bootedAt = 0) =>
    openGate({
      limit: 3,
      store,
      clock: { now: () => Date.now() + offMs, elapsed: () => performance.now() },
      uptimeMs: () => performance.now() - bootedAt,
    }).gate;

  const stop = (gate: ReturnType<typeof start>) => gate[Symbol.asyncDispose]();

  test.each([-56 * year, -10 * day, -hour, hour, 40 * day])(
    'by %i ms, neither lengthens nor shortens a block or the hour over a restart',
    async (jump) => {
      const store = new MemoryStore();
      const first = start(store, 0);
      for (let n = 0; n < 2; n += 1) await first.take('finish');
      first.throttled(30_000);
      await vi.advanceTimersByTimeAsync(1_000);
      await stop(first);
      const second = start(store, jump);
      const order: string[] = [];
      ask(second, order, 'finish', 'blocked');
      await vi.advanceTimersByTimeAsync(28_000);
      expect(order).toEqual([]);
      await vi.advanceTimersByTimeAsync(4_000);
      expect(order).toEqual(['blocked']);
      await stop(second);
      const third = start(store, 0);
      ask(third, order, 'finish', 'next hour');
      await vi.advanceTimersByTimeAsync(58 * minute);
      expect(order).toEqual(['blocked']);
      await vi.advanceTimersByTimeAsync(4 * minute);
      expect(order).toEqual(['blocked', 'next hour']);
      await stop(third);
    },
  );

  test('back, with a reboot, makes no one wait longer than the hour; forward, with one, is believed', async () => {
    const store = new MemoryStore();
    const first = start(store, 0, -hour);
    for (let n = 0; n < 3; n += 1) await first.take('finish');
    await stop(first);
    await vi.advanceTimersByTimeAsync(minute);
    const second = start(store, -10 * day, performance.now());
    const order: string[] = [];
    ask(second, order, 'finish', 'next hour');
    await vi.advanceTimersByTimeAsync(50 * minute);
    expect(order).toEqual([]);
    await vi.advanceTimersByTimeAsync(12 * minute);
    expect(order).toEqual(['next hour']);
    await stop(second);
    const third = start(store, 2 * hour, performance.now());
    for (let n = 0; n < 3; n += 1) await third.take('finish');
    await stop(third);
  });

  test('however often it is set and the daemon restarted, no rolling hour of one uptime has more requests than the limit', async () => {
    const life = fc.record({
      offMs: fc.integer({ min: -40 * day, max: 40 * day }),
      runMs: fc.integer({ min: 1_000, max: 30 * minute }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 2, maxLength: 8 }), async (lives) => {
        const store = new MemoryStore();
        const times: number[] = [];
        for (const { offMs, runMs } of lives) {
          const gate = start(store, offMs);
          const end = new AbortController();
          const asked = (async () => {
            for (;;) {
              await gate.take('finish', end.signal);
              times.push(performance.now());
            }
          })().catch(() => undefined);
          await vi.advanceTimersByTimeAsync(runMs);
          end.abort();
          await asked;
          await stop(gate);
        }
        for (const [index, at] of times.entries())
          expect(times.slice(index).filter((later) => later - at < hour).length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 40 },
    );
  });
});
