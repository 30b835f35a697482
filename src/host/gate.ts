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
  /** Epoch milliseconds; 0 when open. */
  readonly blockedUntil: number;
  readonly waiting: number;
  /** Requests since the budget was first written. */
  readonly total: number;
}

/** The gate that every request to the service passes: an hourly budget, shared by all users of the key. */
export interface Gate extends AsyncDisposable {
  /**
   * Resolves when the request may leave.
   * @throws {AbortedError} the signal fired, or the gate was closed
   * @throws what the store throws when it cannot write
   */
  take(priority: RequestPriority, signal?: AbortSignal): Promise<void>;
  /** The service answered 429. @param retryAfterMs undefined if it does not state the wait */
  throttled(retryAfterMs: number | undefined): void;
  /** Another host may have written the budget, so it is read again. */
  changedElsewhere(): void;
  /** @param limit requests per hour, at least 1 */
  setLimit(limit: number): void;
  snapshot(): GateSnapshot;
  /**
   * How long requests of each priority have waited here since the gate was opened, in total, including those that still
   * wait. Milliseconds.
   */
  waitedMs(): Readonly<Record<RequestPriority, number>>;
}

/**
 * Opens the gate. Waiting requests leave by priority (finish, create, poll), and in order within one. Each is saved
 * before it may leave, a few with one write, so that a crash can only lose requests that were never sent.
 */
export function createGate(options: GateOptions): Gate {
  return new PersistedGate(options);
}

/** The result of one check of the waiters: none wait, some were let through, or the milliseconds until some can be. */
type Look = 'idle' | 'again' | number;

/** The longest sleep of a waiting gate: a timer may be late after the machine was suspended. */
const longestSleepMs = 60_000;

/** The last tenth of the hour is shared with care. */
const isScarce = (free: number, limit: number): boolean => free < limit / 10;

class PersistedGate implements Gate {
  readonly #store: BudgetStore;
  readonly #clock: Clock;
  readonly #known: KnownBudget;
  readonly #waiters: Waiters;
  readonly #detach: () => void;
  #limit: number;
  /** When each priority may check again, on the monotonic clock: until then, others go first. */
  #notBefore: Record<RequestPriority, number> = { finish: 0, create: 0, poll: 0 };
  /** How many writes in a row this host lost to others. */
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
    // Loads the window, so that a snapshot is right before the first request.
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

  /** Starts the pump. A running pump checks everything again before it ends. */
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
      // One turn of the event loop later, so that requests of the same turn leave by priority and not by order of
      // arrival.
      await bestEffort(this.#known.refresh());
      look = await this.#next();
    }
    this.#pumping = null;
    this.#sleep(Math.min(look === 'idle' ? Infinity : look, this.#store.sharing.freshMs));
  }

  /** Lets the most urgent waiters with room through, or returns how long there is no room. */
  async #next(): Promise<Look> {
    if (this.#waiters.size === 0) return 'idle';
    try {
      await this.#known.read();
      const next = this.#find();
      if (next.chosen.length === 0) return this.#holdBack(next);
      if (this.#store.sharing.ahead(this.#limit) > 0 && this.#known.useAhead()) next.chosen[0]?.go();
      else await this.#count(next);
    } catch (error) {
      // Nothing left.
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

  /** Other hosts wait for the same room, so this host checks slightly later. */
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

/** The next request tries again, and gets the error. */
async function bestEffort(work: Promise<void>): Promise<void> {
  await work.catch(() => undefined);
}
