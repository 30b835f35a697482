import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { emptyWindow } from '../../src/host/budget-window.ts';
import type { BudgetWindow } from '../../src/host/budget-window.ts';
import { AbortedError } from '../../packages/client/src/errors.ts';
import { createGate } from '../../src/host/gate.ts';
import type { BudgetStore } from '../../src/host/gate.ts';
import type { Clock, RequestPriority } from '../../src/pipeline/file/ports.ts';

class MemoryStore implements BudgetStore {
  saved: BudgetWindow | null = null;
  failure: Error | null = null;
  async load(): Promise<BudgetWindow | null> {
    return this.saved;
  }
  async save(window: BudgetWindow): Promise<void> {
    if (this.failure !== null) throw this.failure;
    this.saved = window;
  }
}

const fakeClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

function openGate({ limit = 10, store = new MemoryStore(), clock = fakeClock } = {}) {
  const gate = createGate({ store, limit, clock });
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
      waiting: 0,
      total: 1,
      frees: [[61 * 60_000, 1]],
    });
  });

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

  test('needs no timer while nobody waits', async () => {
    const { gate } = openGate();
    await gate.take('finish');
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
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
