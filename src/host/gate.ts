import type { Clock, RequestPriority } from '../pipeline/file/ports.ts';
import { arePollsWithoutShare, block, emptyWindow, minuteOf, spend, spendAhead, usageOf } from './budget-window.ts';
import type { BudgetWindow, Usage } from './budget-window.ts';
import { AbortedError } from '@dropcast/client';

/** Where the window survives a restart. `save` resolves when it is on disk. */
export interface BudgetStore {
  load(): Promise<BudgetWindow | null>;
  save(window: BudgetWindow): Promise<void>;
}

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

/** The gate that every request to the service passes: an hourly budget, the same for all uses of the key. */
export interface Gate extends AsyncDisposable {
  /**
   * Resolves when the request may leave.
   * @throws {AbortedError} the signal fired, or the gate was closed
   * @throws what the store throws when it cannot write
   */
  take(priority: RequestPriority, signal?: AbortSignal): Promise<void>;
  /** The service answered 429. @param retryAfterMs undefined if it does not say how long to wait */
  throttled(retryAfterMs: number | undefined): void;
  /** @param limit requests per hour, at least 1 */
  setLimit(limit: number): void;
  snapshot(): GateSnapshot;
  /** How long requests of each priority have waited here, all together, since it was opened; those that wait still count. Milliseconds. */
  waitedMs(): Readonly<Record<RequestPriority, number>>;
}

/**
 * Opens the gate. Waiting requests go by priority (finish, create, poll), and in order within one. Each is saved before it may leave,
 * a few with one write, so that a crash can only lose requests that were never sent.
 */
export function createGate(options: GateOptions): Gate {
  return new PersistedGate(options);
}

/** What one look at the waiters came to: nobody waits, one was let through, or the milliseconds until one can be. */
type Look = 'idle' | 'again' | number;

interface Waiter {
  /** Its number in the order of asking. */
  readonly number: number;
  /** Since when, by the clock that never jumps. */
  readonly since: number;
  go(): void;
  refuse(reason: unknown): void;
}

const priorities: readonly RequestPriority[] = ['finish', 'create', 'poll'];

/** The longest sleep of a waiting gate: a timer may be late where the machine was suspended. */
const longestSleepMs = 60_000;

class PersistedGate implements Gate {
  readonly #store: BudgetStore;
  readonly #clock: Clock;
  /** By the wall clock, the only one that runs while the program does not, when it began; from then on by the one that nobody sets. */
  readonly #now: () => number;
  readonly #waiters: Record<RequestPriority, Set<Waiter>> = { finish: new Set(), create: new Set(), poll: new Set() };
  readonly #detach: () => void;
  #limit: number;
  readonly #waited: Record<RequestPriority, number> = { finish: 0, create: 0, poll: 0 };
  #asked = 0;
  /** What was let through. */
  #window: BudgetWindow | null = null;
  /** Further requests of that minute that are on disk as spent, and may leave without a write. */
  #ahead = { minute: 0, requests: 0 };
  #timer: NodeJS.Timeout | undefined;
  #pumping: Promise<void> | null = null;
  #isStale = false;
  #isUnsaved = false;
  #isClosed = false;

  constructor(options: GateOptions) {
    this.#store = options.store;
    const { clock } = options;
    const start = clock.now() - clock.elapsed();
    this.#clock = clock;
    this.#now = () => start + clock.elapsed();
    this.#limit = options.limit;
    const close = () => this.#close();
    options.signal?.addEventListener('abort', close, { once: true });
    this.#detach = () => options.signal?.removeEventListener('abort', close);
    if (options.signal?.aborted === true) close();
    // Loads the window, so that a snapshot is right before the first request.
    else this.#wake();
  }

  take(priority: RequestPriority, signal?: AbortSignal): Promise<void> {
    if (this.#isClosed || signal?.aborted === true) return Promise.reject(brokenOff());
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters[priority].delete(waiter);
        this.#waited[priority] += this.#clock.elapsed() - waiter.since;
        signal?.removeEventListener('abort', abort);
      };
      const waiter: Waiter = {
        number: (this.#asked += 1),
        since: this.#clock.elapsed(),
        go: () => (leave(), resolve()),
        refuse: (reason) => (leave(), reject(reason)),
      };
      const abort = () => waiter.refuse(brokenOff());
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiters[priority].add(waiter);
      this.#wake();
    });
  }

  throttled(retryAfterMs: number | undefined): void {
    // Nothing has passed yet, so no answer can belong to a request of this gate; and the stored counters must not be lost.
    if (this.#window === null) return;
    this.#window = block(this.#window, this.#now(), { retryAfterMs, limit: this.#limit });
    this.#isUnsaved = true;
    this.#wake();
  }

  setLimit(limit: number): void {
    this.#limit = limit;
    this.#wake();
  }

  snapshot(): GateSnapshot {
    const window = this.#window ?? emptyWindow;
    const usage = usageOf(window, this.#now(), this.#limit);
    const waiting = priorities.reduce((sum, priority) => sum + this.#waiters[priority].size, 0);
    return {
      ...usage,
      blockedUntil: usage.blockedMs === 0 ? 0 : usage.blockedMs + this.#clock.now(),
      waiting,
      total: window.total,
    };
  }

  waitedMs(): Readonly<Record<RequestPriority, number>> {
    const waited = { ...this.#waited };
    for (const priority of priorities)
      for (const { since } of this.#waiters[priority]) waited[priority] += this.#clock.elapsed() - since;
    return waited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    await this.#pumping;
    if (this.#ahead.requests > 0) this.#isUnsaved = true;
    await this.#refresh();
  }

  /** Starts the pump; one that runs checks everything again before it ends. */
  #wake(): void {
    clearTimeout(this.#timer);
    this.#isStale = true;
    this.#pumping ??= this.#pump();
  }

  async #pump(): Promise<void> {
    let look: Look = 'idle';
    while (this.#isStale || look === 'again') {
      this.#isStale = false;
      // One turn of the event loop later, so that requests of the same turn go by priority and not by who was first.
      await this.#refresh();
      look = await this.#next();
    }
    this.#pumping = null;
    if (typeof look === 'number') this.#sleep(look);
  }

  /** Best effort: the next request loads or saves again, and gets the error. */
  async #refresh(): Promise<void> {
    try {
      this.#window ??= (await this.#store.load()) ?? emptyWindow;
      if (!this.#isUnsaved) return;
      this.#isUnsaved = false;
      this.#ahead.requests = 0;
      await this.#store.save(this.#window);
    } catch {
      // The next request reports it.
    }
  }

  /** Lets the most urgent waiter with room through, or says how long nobody has room. */
  async #next(): Promise<Look> {
    let waitMs: number | null = null;
    for (const priority of this.#order()) {
      const [waiter] = this.#waiters[priority];
      if (waiter === undefined) continue;
      try {
        this.#window ??= (await this.#store.load()) ?? emptyWindow;
        const spending = spend(this.#window, this.#now(), priority, this.#limit);
        if (spending.granted) return await this.#letGo(waiter, spending.window);
        this.#window = spending.window;
        waitMs = Math.min(waitMs ?? spending.waitMs, spending.waitMs);
      } catch (error) {
        waiter.refuse(error);
        return 'again';
      }
    }
    return waitMs ?? 'idle';
  }

  /** Who is asked first. Where questions have no share of their own, they and creates take turns. */
  #order(): readonly RequestPriority[] {
    const [create] = this.#waiters.create;
    const [poll] = this.#waiters.poll;
    const isFirst = poll !== undefined && poll.number < (create?.number ?? Infinity);
    const isShared = arePollsWithoutShare(this.#window ?? emptyWindow, this.#now(), this.#limit);
    return isFirst && isShared ? ['finish', 'poll', 'create'] : priorities;
  }

  async #letGo(waiter: Waiter, window: BudgetWindow): Promise<'again'> {
    const before = this.#window;
    this.#window = window;
    const minute = minuteOf(this.#now());
    try {
      if (this.#ahead.requests > 0 && this.#ahead.minute === minute) this.#ahead.requests -= 1;
      else this.#ahead = { minute, requests: await this.#save(window) };
    } catch (error) {
      // Nothing left. A block that came meanwhile stays.
      if (this.#window === window) this.#window = before;
      throw error;
    }
    waiter.go();
    return 'again';
  }

  /** @returns how many further requests the write is good for */
  async #save(window: BudgetWindow): Promise<number> {
    this.#ahead.requests = 0;
    const spent = spendAhead(window, this.#limit);
    await this.#store.save(spent.window);
    // A 429 came meanwhile: what is written next has none ahead.
    return this.#window === window ? spent.ahead : 0;
  }

  #sleep(ms: number): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#wake(), Math.min(Math.max(ms, 1), longestSleepMs));
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#detach();
    for (const priority of priorities) {
      for (const waiter of this.#waiters[priority]) waiter.refuse(brokenOff());
    }
  }
}

function brokenOff(): AbortedError {
  return new AbortedError('waiting for the request budget');
}
