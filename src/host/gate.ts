import type { RateLimitReport } from '@dropcast/client';
import type { Clock, RequestPriority } from '../pipeline/file/ports.ts';
import type { BudgetStore } from './budget-store.ts';
import { spendAhead, usageOf, usedOf } from './budget-window.ts';
import { createKnownBudget } from './known-budget.ts';
import { brokenOff, createWaiters, nextRequests, priorities } from './waiters.ts';
import type { NextRequests } from './waiters.ts';

interface GateOptions {
  readonly store: BudgetStore;
  /** Requests per hour, at least 1. */
  readonly limit: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/** The gate that every request to the service passes. Enforces an hourly budget that all users of the key share. */
export type Gate = ReturnType<typeof createGate>;

/** Result of one check: no waiters, some were let through, or the milliseconds until some can be. */
type Look = 'idle' | 'again' | number;

/** Maximum sleep of a waiting gate, because timers may be late after the machine was suspended. */
const longestSleepMs = 60_000;

/** Whether only the last tenth of the hour is left, which hosts share more carefully. */
const isScarce = (free: number, limit: number): boolean => free < limit / 10;

/**
 * Opens the gate. Waiting requests leave by priority (finish, create, poll), and in order of arrival within one. Each
 * is saved before it may leave, a few per write, so a crash can only lose requests that were never sent.
 */
export function createGate({ store, clock, limit: initial, signal }: GateOptions) {
  const { sharing } = store;
  const known = createKnownBudget(store, () => clock.elapsed());
  const waiters = createWaiters(() => clock.elapsed());
  let limit = initial;
  /** When each priority may check again, on the monotonic clock. Until then, others go first. */
  let notBefore: Record<RequestPriority, number> = { finish: 0, create: 0, poll: 0 };
  /** Number of consecutive writes that this host lost to others. */
  let beaten = 0;
  let timer: NodeJS.Timeout | undefined;
  let pumping: Promise<void> | null = null;
  let isStale = false;
  let isClosed = false;

  /** Starts the pump. A running pump checks everything again before it stops. */
  const wake = (): void => {
    clearTimeout(timer);
    if (isClosed) return;
    isStale = true;
    pumping ??= pump();
  };

  const pump = async (): Promise<void> => {
    let look: Look = 'idle';
    while (isStale || look === 'again') {
      isStale = false;
      // Waits a turn of the event loop, so that requests made in the same turn leave by priority instead of order of
      // arrival.
      await bestEffort(known.refresh());
      look = await next();
    }
    pumping = null;
    sleep(Math.min(look === 'idle' ? Infinity : look, sharing.freshMs));
  };

  /** Lets the most urgent waiters through if there is room; otherwise returns how long to wait. */
  const next = async (): Promise<Look> => {
    if (waiters.size() === 0) return 'idle';
    try {
      await known.read();
      const found = find();
      if (found.chosen.length === 0) return holdBack(found);
      if (sharing.ahead(limit) > 0 && known.useAhead()) found.chosen[0]?.go();
      else await count(found);
    } catch (error) {
      // No request has left.
      waiters.refuseAll(error);
    }
    return 'again';
  };

  const find = (): NextRequests => {
    const window = known.window();
    const most = sharing.served(limit - usedOf(window));
    const rest = (priority: RequestPriority) => notBefore[priority] - clock.elapsed();
    return nextRequests(waiters, window, { nowMs: store.now(), limit, most, rest });
  };

  /** Returns when to check again, slightly later than necessary, because other hosts are waiting for the same room. */
  const holdBack = ({ waits }: NextRequests): Look => {
    let soonest = Infinity;
    for (const { priority, waitMs, isForRoom } of waits) {
      const delayMs = isForRoom ? sharing.delayMs(priority) : 0;
      if (delayMs > 0) notBefore[priority] = clock.elapsed() + waitMs + delayMs;
      soonest = Math.min(soonest, waitMs + delayMs);
    }
    return soonest;
  };

  const count = async ({ chosen, window }: NextRequests): Promise<void> => {
    const spent = spendAhead(window, limit, sharing.ahead(limit));
    const isStored = await known.count({ ...spent, requests: chosen.length });
    beaten = isStored ? 0 : beaten + 1;
    const after = { isScarce: isScarce(limit - usedOf(window), limit), beaten };
    for (const priority of priorities) notBefore[priority] = clock.elapsed() + sharing.pauseMs(priority, after);
    if (!isStored) return;
    for (const waiter of chosen) if (waiter.isWaiting() && known.useAhead()) waiter.go();
  };

  const sleep = (ms: number): void => {
    if (isClosed || ms === Infinity) return;
    timer = setTimeout(wake, Math.min(Math.max(ms, 1), longestSleepMs));
  };

  const close = (): void => {
    isClosed = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', close);
    waiters.refuseAll(brokenOff());
  };

  signal?.addEventListener('abort', close, { once: true });
  if (signal?.aborted === true) close();
  // Loads the window, so that snapshots are correct before the first request.
  else wake();

  return {
    /**
     * Resolves when the request may leave.
     * @throws {AbortedError} the signal was aborted, or the gate was closed
     * @throws the store's error if it cannot write
     */
    take: (priority: RequestPriority, aborts?: AbortSignal): Promise<void> => {
      if (isClosed || aborts?.aborted === true) return Promise.reject(brokenOff(aborts));
      const left = waiters.add(priority, aborts);
      wake();
      return left;
    },
    /** Blocks requests after a 429. @param retryAfterMs undefined if the service does not state the wait */
    throttled: (retryAfterMs: number | undefined): void => {
      known.refused({ retryAfterMs, limit });
      wake();
    },
    /** Lowers the budget to the limits that the service reports. They never allow more than the hour does. */
    reported: (report: RateLimitReport): void => {
      known.reported(report);
      wake();
    },
    /** Forgets the limits that the service reported, because the service or the key has changed. Requests still count. */
    otherService: (): void => {
      known.forget();
      wake();
    },
    /** Rereads the budget, because another host may have written it. */
    changedElsewhere: (): void => {
      known.doubt();
      wake();
    },
    /** @param to requests per hour, at least 1 */
    setLimit: (to: number): void => {
      limit = to;
      notBefore = { finish: 0, create: 0, poll: 0 };
      wake();
    },
    /** `blockedUntil`: epoch milliseconds; 0 if open. `total`: requests since the budget was first written. */
    snapshot: () => {
      const window = known.window();
      const usage = usageOf(window, store.now(), limit);
      const blockedUntil = usage.blockedMs === 0 ? 0 : usage.blockedMs + clock.now();
      return { ...usage, blockedUntil, waiting: waiters.size(), total: window.total };
    },
    /**
     * Returns how long requests of each priority have waited since the gate was opened, in total and including those
     * still waiting, in milliseconds.
     */
    waitedMs: waiters.waitedMs,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      close();
      await pumping;
      await bestEffort(known.giveBack());
    },
  };
}

/** Ignores an error that the next request will get when it tries again. */
async function bestEffort(work: Promise<void>): Promise<void> {
  await work.catch(() => undefined);
}
