import type { Lane } from '../pipeline/file/ports.ts';
import { atTime, block, emptyWindow, spend, usedOf } from './budget-window.ts';
import type { BudgetWindow } from './budget-window.ts';
import { AbortedError } from '@dropcast/client';
import type { RequestGate } from './video-service.ts';

/** Where the window survives a restart. `save` resolves when it is on disk. */
export interface BudgetStore {
  load(): Promise<BudgetWindow | null>;
  save(window: BudgetWindow): Promise<void>;
}

export interface GateOptions {
  readonly store: BudgetStore;
  /** Requests per hour, at least 1. */
  readonly limit: number;
  /** Wall clock, epoch milliseconds: the only clock that goes on while the program is down. */
  readonly now: () => number;
  readonly signal?: AbortSignal;
}

export interface GateSnapshot {
  /** Requests of the last hour. */
  readonly used: number;
  readonly limit: number;
  /** Epoch milliseconds; 0 when open. */
  readonly blockedUntil: number;
  readonly waiting: number;
  /** Requests since the budget was first written. */
  readonly total: number;
}

export interface Gate extends RequestGate, AsyncDisposable {
  setLimit(limit: number): void;
  snapshot(): GateSnapshot;
}

/**
 * The one gate that every request to the service passes. Waiters go finish before create before poll, and in order within a
 * lane; the window is saved before a request is let go, so that a crash can only forget requests that were never made.
 *
 * `take` rejects with AbortedError when its signal or the gate's says so, and with the store's error when that cannot write.
 */
export function createGate(options: GateOptions): Gate {
  return new PersistedGate(options);
}

/** What the pump found: nobody waits, somebody was served, or the milliseconds until somebody can be. */
type Turn = 'idle' | 'again' | number;

interface Waiter {
  go(): void;
  refuse(reason: unknown): void;
}

const lanes: readonly Lane[] = ['finish', 'create', 'poll'];

/** A waiting gate looks again this often at least: the wall clock may have been set forward. */
const longestSleepMs = 60_000;

class PersistedGate implements Gate {
  readonly #store: BudgetStore;
  readonly #now: () => number;
  readonly #waiters: Record<Lane, Set<Waiter>> = { finish: new Set(), create: new Set(), poll: new Set() };
  readonly #detach: () => void;
  #limit: number;
  #window: BudgetWindow | null = null;
  #timer: NodeJS.Timeout | undefined;
  #pumping: Promise<void> | null = null;
  #isStale = false;
  #isUnsaved = false;
  #isClosed = false;

  constructor(options: GateOptions) {
    this.#store = options.store;
    this.#now = options.now;
    this.#limit = options.limit;
    const close = () => this.#close();
    options.signal?.addEventListener('abort', close, { once: true });
    this.#detach = () => options.signal?.removeEventListener('abort', close);
    if (options.signal?.aborted === true) close();
    // Loads the window, so that a snapshot tells the truth before the first request.
    else this.#wake();
  }

  take(lane: Lane, signal?: AbortSignal): Promise<void> {
    if (this.#isClosed || signal?.aborted === true) return Promise.reject(brokenOff());
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters[lane].delete(waiter);
        signal?.removeEventListener('abort', abort);
      };
      const waiter: Waiter = {
        go: () => (leave(), resolve()),
        refuse: (reason) => (leave(), reject(reason)),
      };
      const abort = () => waiter.refuse(brokenOff());
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiters[lane].add(waiter);
      this.#wake();
    });
  }

  throttled(retryAfterMs: number | undefined): void {
    // Nothing was let go yet, so no answer can be about a request of this gate, and the stored counters must not be lost.
    if (this.#window === null) return;
    this.#window = block(this.#window, this.#now(), retryAfterMs);
    this.#isUnsaved = true;
    this.#wake();
  }

  setLimit(limit: number): void {
    this.#limit = limit;
    this.#wake();
  }

  snapshot(): GateSnapshot {
    const window = atTime(this.#window ?? emptyWindow, this.#now());
    const waiting = lanes.reduce((sum, lane) => sum + this.#waiters[lane].size, 0);
    return {
      used: usedOf(window),
      limit: this.#limit,
      blockedUntil: window.blockedUntil,
      waiting,
      total: window.total,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    await this.#pumping;
  }

  /** Starts the pump; a running one looks at everything again before it ends. */
  #wake(): void {
    clearTimeout(this.#timer);
    this.#isStale = true;
    this.#pumping ??= this.#pump();
  }

  async #pump(): Promise<void> {
    let turn: Turn = 'idle';
    while (this.#isStale || turn === 'again') {
      this.#isStale = false;
      // One turn later: whoever else asks in this turn is served by urgency, not by who was first.
      await this.#refresh();
      turn = await this.#next();
    }
    this.#pumping = null;
    if (typeof turn === 'number') this.#sleep(turn);
  }

  /** Best effort: what cannot be loaded is asked for again by the next request, what cannot be written goes with it. */
  async #refresh(): Promise<void> {
    try {
      this.#window ??= (await this.#store.load()) ?? emptyWindow;
      if (!this.#isUnsaved) return;
      this.#isUnsaved = false;
      await this.#store.save(this.#window);
    } catch {
      // Said to whoever asks next.
    }
  }

  /** Lets the most urgent waiter go that has room, or says how long nobody has. */
  async #next(): Promise<Turn> {
    let waitMs: number | null = null;
    for (const lane of lanes) {
      const [waiter] = this.#waiters[lane];
      if (waiter === undefined) continue;
      try {
        this.#window ??= (await this.#store.load()) ?? emptyWindow;
        const spending = spend(this.#window, this.#now(), lane, this.#limit);
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

  async #letGo(waiter: Waiter, window: BudgetWindow): Promise<'again'> {
    const before = this.#window;
    this.#window = window;
    try {
      await this.#store.save(window);
    } catch (error) {
      // Nothing went out. A block that came in meanwhile stays.
      if (this.#window === window) this.#window = before;
      throw error;
    }
    waiter.go();
    return 'again';
  }

  #sleep(ms: number): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#wake(), Math.min(Math.max(ms, 1), longestSleepMs));
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#detach();
    for (const lane of lanes) {
      for (const waiter of this.#waiters[lane]) waiter.refuse(brokenOff());
    }
  }
}

function brokenOff(): AbortedError {
  return new AbortedError('waiting for the request budget');
}
