import type { RateLimitReport } from '@dropcast/client';
import type { Clock, RequestPriority } from '../pipeline/file/ports.ts';
import type { BudgetStore } from './budget-store.ts';
import { spendAhead, usageOf, usedOf } from './budget-window.ts';
import type { Usage } from './budget-window.ts';
import { KnownBudget } from './known-budget.ts';
import { nextRequests } from './waiters.ts';
import type { NextRequests } from './waiters.ts';
import { brokenOff, priorities, Waiters } from './waiters.ts';

export interface GateOptions {
  readonly store: BudgetStore;
  /** Requests per hour, at least 1. */
  readonly limit: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

export interface GateSnapshot extends Usage {
  /** End of the block, epoch milliseconds; 0 if open. */
  readonly blockedUntil: number;
  readonly waiting: number;
  /** Number of requests since the budget was first written. */
  readonly total: number;
}

/** The gate that every request to the service passes. Enforces an hourly budget that all users of the key share. */
export interface Gate extends AsyncDisposable {
  /**
   * Resolves when the request may leave.
   * @throws {AbortedError} the signal was aborted, or the gate was closed
   * @throws the store's error if it cannot write
   */
  take(priority: RequestPriority, signal?: AbortSignal): Promise<void>;
  /** Blocks requests after a 429. @param retryAfterMs undefined if the service does not state the wait */
  throttled(retryAfterMs: number | undefined): void;
  /** Lowers the budget to the limits that the service reports. They never allow more than the hour does. */
  reported(report: RateLimitReport): void;
  /** Forgets the limits that the service reported, because the service or the key has changed. Requests still count. */
  otherService(): void;
  /** Rereads the budget, because another host may have written it. */
  changedElsewhere(): void;
  /** @param limit requests per hour, at least 1 */
  setLimit(limit: number): void;
  snapshot(): GateSnapshot;
  /**
   * Returns how long requests of each priority have waited since the gate was opened, in total and including those
   * still waiting, in milliseconds.
   */
  waitedMs(): Readonly<Record<RequestPriority, number>>;
}

/**
 * Opens the gate. Waiting requests leave by priority (finish, create, poll), and in order of arrival within one. Each
 * is saved before it may leave, a few per write, so a crash can only lose requests that were never sent.
 */
export function createGate(options: GateOptions): Gate {
  return new PersistedGate(options);
}

/** Result of one check: no waiters, some were let through, or the milliseconds until some can be. */
type Look = 'idle' | 'again' | number;

/** Maximum sleep of a waiting gate, because timers may be late after the machine was suspended. */
const longestSleepMs = 60_000;

/** Whether only the last tenth of the hour is left, which hosts share more carefully. */
const isScarce = (free: number, limit: number): boolean => free < limit / 10;

class PersistedGate implements Gate {
  readonly #store: BudgetStore;
  readonly #clock: Clock;
  readonly #known: KnownBudget;
  readonly #waiters: Waiters;
  readonly #detach: () => void;
  #limit: number;
  /** When each priority may check again, on the monotonic clock. Until then, others go first. */
  #notBefore: Record<RequestPriority, number> = { finish: 0, create: 0, poll: 0 };
  /** Number of consecutive writes that this host lost to others. */
  #beaten = 0;
  #timer: NodeJS.Timeout | undefined;
  #pumping: Promise<void> | null = null;
  #isStale = false;
  #isClosed = false;

  constructor({ store, clock, limit, signal }: GateOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#known = new KnownBudget(store, () => clock.elapsed());
    this.#waiters = new Waiters(() => clock.elapsed());
    this.#limit = limit;
    const close = () => this.#close();
    signal?.addEventListener('abort', close, { once: true });
    this.#detach = () => signal?.removeEventListener('abort', close);
    if (signal?.aborted === true) close();
    // Loads the window, so that snapshots are correct before the first request.
    else this.#wake();
  }

  take(priority: RequestPriority, signal?: AbortSignal): Promise<void> {
    if (this.#isClosed || signal?.aborted === true) return Promise.reject(brokenOff(signal));
    const left = this.#waiters.add(priority, signal);
    this.#wake();
    return left;
  }

  throttled(retryAfterMs: number | undefined): void {
    this.#known.refused({ retryAfterMs, limit: this.#limit });
    this.#wake();
  }

  reported(report: RateLimitReport): void {
    this.#known.reported(report);
    this.#wake();
  }

  otherService(): void {
    this.#known.forget();
    this.#wake();
  }

  changedElsewhere(): void {
    this.#known.doubt();
    this.#wake();
  }

  setLimit(limit: number): void {
    this.#limit = limit;
    this.#notBefore = { finish: 0, create: 0, poll: 0 };
    this.#wake();
  }

  snapshot(): GateSnapshot {
    const window = this.#known.window();
    const usage = usageOf(window, this.#store.now(), this.#limit);
    return {
      ...usage,
      blockedUntil: usage.blockedMs === 0 ? 0 : usage.blockedMs + this.#clock.now(),
      waiting: this.#waiters.size,
      total: window.total,
    };
  }

  waitedMs(): Readonly<Record<RequestPriority, number>> {
    return this.#waiters.waitedMs();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    await this.#pumping;
    await bestEffort(this.#known.giveBack());
  }

  /** Starts the pump. A running pump checks everything again before it stops. */
  #wake(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#isStale = true;
    this.#pumping ??= this.#pump();
  }

  async #pump(): Promise<void> {
    let look: Look = 'idle';
    while (this.#isStale || look === 'again') {
      this.#isStale = false;
      // Waits a turn of the event loop, so that requests made in the same turn leave by priority instead of order of
      // arrival.
      await bestEffort(this.#known.refresh());
      look = await this.#next();
    }
    this.#pumping = null;
    this.#sleep(Math.min(look === 'idle' ? Infinity : look, this.#store.sharing.freshMs));
  }

  /** Lets the most urgent waiters through if there is room; otherwise returns how long to wait. */
  async #next(): Promise<Look> {
    if (this.#waiters.size === 0) return 'idle';
    try {
      await this.#known.read();
      const next = this.#find();
      if (next.chosen.length === 0) return this.#holdBack(next);
      if (this.#store.sharing.ahead(this.#limit) > 0 && this.#known.useAhead()) next.chosen[0]?.go();
      else await this.#count(next);
    } catch (error) {
      // No request has left.
      this.#waiters.refuseAll(error);
    }
    return 'again';
  }

  #find(): NextRequests {
    const window = this.#known.window();
    const most = this.#store.sharing.served(this.#limit - usedOf(window));
    const rest = (priority: RequestPriority) => this.#notBefore[priority] - this.#clock.elapsed();
    return nextRequests(this.#waiters, window, { nowMs: this.#store.now(), limit: this.#limit, most, rest });
  }

  /** Returns when to check again, slightly later than necessary, because other hosts are waiting for the same room. */
  #holdBack({ waits }: NextRequests): Look {
    let soonest = Infinity;
    for (const { priority, waitMs, isForRoom } of waits) {
      const delayMs = isForRoom ? this.#store.sharing.delayMs(priority) : 0;
      if (delayMs > 0) this.#notBefore[priority] = this.#clock.elapsed() + waitMs + delayMs;
      soonest = Math.min(soonest, waitMs + delayMs);
    }
    return soonest;
  }

  async #count({ chosen, window }: NextRequests): Promise<void> {
    const { sharing } = this.#store;
    const spent = spendAhead(window, this.#limit, sharing.ahead(this.#limit));
    const isStored = await this.#known.count({ ...spent, requests: chosen.length });
    this.#beaten = isStored ? 0 : this.#beaten + 1;
    const after = { isScarce: isScarce(this.#limit - usedOf(window), this.#limit), beaten: this.#beaten };
    for (const priority of priorities)
      this.#notBefore[priority] = this.#clock.elapsed() + sharing.pauseMs(priority, after);
    if (!isStored) return;
    for (const waiter of chosen) if (waiter.isWaiting() && this.#known.useAhead()) waiter.go();
  }

  #sleep(ms: number): void {
    if (this.#isClosed || ms === Infinity) return;
    this.#timer = setTimeout(() => this.#wake(), Math.min(Math.max(ms, 1), longestSleepMs));
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#detach();
    this.#waiters.refuseAll(brokenOff());
  }
}

/** Ignores an error that the next request will get when it tries again. */
async function bestEffort(work: Promise<void>): Promise<void> {
  await work.catch(() => undefined);
}
