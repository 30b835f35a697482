import type { BudgetStore, StoredBudget } from './budget-store.ts';
import type { RateLimitReport } from '@dropcast/client';
import { block, closedUntil, countsOf, emptyWindow, minuteOf, withoutReserve, withReported } from './budget-window.ts';
import type { BudgetWindow, Refusal, Reserve } from './budget-window.ts';
import { limitsOf, unexpired, withNewer } from './reported-limits.ts';
import type { ReportedLimit } from './reported-limits.ts';

const none: Reserve = { minute: 0, left: 0, counted: 0 };

/** Requests that are about to be stored. */
interface Spent {
  /** The window with all of these requests counted. */
  readonly window: BudgetWindow;
  readonly requests: number;
  readonly ahead: number;
}

/**
 * The budget as this host knows it: the stored window, without requests that are counted there but unused, and with
 * 429s and reported limits that are not stored yet.
 */
export class KnownBudget {
  readonly #store: BudgetStore;
  readonly #elapsed: () => number;
  #stored: StoredBudget | null = null;
  #isSure = false;
  #readAt = -Infinity;
  #reserve = none;
  #refusals: readonly Refusal[] = [];
  #reported: readonly ReportedLimit[] = [];
  /** Whether the stored window says what a former service reported. */
  #isFormer = false;

  constructor(store: BudgetStore, elapsed: () => number) {
    this.#store = store;
    this.#elapsed = elapsed;
  }

  window(): BudgetWindow {
    const now = this.#store.now();
    const stored = this.#stored?.window ?? emptyWindow;
    const used = withoutReserve(this.#isFormer ? countsOf(stored) : stored, this.#reserve);
    return this.#refusals.reduce(
      (window, refusal) => block(window, now, refusal),
      withReported(used, this.#reported, now),
    );
  }

  /** Records a 429. It takes effect immediately, and is stored by the next `refresh` or with the next request. */
  refused(refusal: Omit<Refusal, 'at'>): void {
    // The budget's time is unknown before the first read.
    const at = this.#stored === null ? {} : { at: this.#store.now() };
    this.#refusals = [...this.#refusals, { ...refusal, ...at }];
  }

  /**
   * Records reported limits. They take effect immediately, and are stored by the next `refresh` if they allow nothing,
   * otherwise with the next request.
   */
  reported(report: RateLimitReport): void {
    if (this.#stored === null) return;
    const nowMs = this.#store.now();
    const { reported = [], total } = this.window();
    this.#reported = withNewer(unexpired(this.#reported, nowMs), limitsOf(report, reported, { total, nowMs }));
  }

  /** Forgets the limits that the service reported, because the service or the key has changed. Requests still count. */
  forget(): void {
    this.#isFormer = true;
    this.#refusals = [];
    this.#reported = [];
  }

  /** Makes `refresh` reread the window that another host has written. */
  doubt(): void {
    this.#readAt = -Infinity;
  }

  /** Reads the stored window unless it is known. @throws the store's error */
  async read(): Promise<void> {
    if (this.#stored === null || !this.#isSure) this.#learn(await this.#store.load());
  }

  /** Rereads a window that may have changed, and stores what other hosts do not know. @throws the store's error */
  async refresh(): Promise<void> {
    await this.read();
    const isOld = this.#elapsed() - this.#readAt >= this.#store.sharing.freshMs;
    if (this.#isStoreWrong() || (isOld && this.#reserve.left > 0)) return this.giveBack();
    if (isOld) this.#learn(await this.#store.load());
  }

  /** Stores only the requests that were really used. @throws the store's error */
  async giveBack(): Promise<void> {
    if (this.#stored === null) return;
    while (this.#reserve.left > 0 || this.#isFormer || this.#refusals.length > 0 || this.#reported.length > 0)
      await this.#swap(this.window());
  }

  /**
   * Whether the store describes a former service, or does not say that the service refuses requests. Limits with room
   * are stored with the next request, because nearly every answer reports some.
   */
  #isStoreWrong(): boolean {
    if (this.#isFormer || this.#refusals.length > 0) return true;
    if (this.#reported.length === 0 || this.#stored === null) return false;
    const now = this.#store.now();
    return closedUntil(this.window(), now) > closedUntil(this.#stored.window, now);
  }

  /** Uses a request that was counted in advance. @returns whether one was left */
  useAhead(): boolean {
    const { minute, left, counted } = this.#reserve;
    if (left === 0 || minute !== minuteOf(this.#store.now()) || this.#refusals.length > 0) return false;
    this.#reserve = { minute, left: left - 1, counted: counted - 1 };
    return true;
  }

  /**
   * Stores requests as sent. They then leave through `useAhead`, unless the minute has ended or the service refused; a
   * request sent later would count for too short a time.
   *
   * @returns whether they were stored; if not, another host wrote first
   * @throws the store's error; the requests may be stored, but do not leave
   */
  async count({ window, requests, ahead }: Spent): Promise<boolean> {
    const minute = minuteOf(this.#store.now());
    if (!(await this.#swap(window))) return false;
    this.#reserve = { minute, left: requests + ahead, counted: requests };
    return true;
  }

  async #swap(window: BudgetWindow): Promise<boolean> {
    if (this.#stored === null) return false;
    const written = this.#refusals.length;
    const reported = this.#reported;
    const isFormer = this.#isFormer;
    const { isOurs, stored } = await this.#store.swap(this.#stored, window).catch((error: unknown) => {
      // Stored or not, the requests counted in this window are now treated as spent.
      this.#isSure = false;
      this.#reserve = none;
      throw error;
    });
    this.#learn(stored);
    if (!isOurs) return false;
    this.#reserve = none;
    if (isFormer) this.#isFormer = false;
    this.#refusals = this.#refusals.slice(written);
    this.#reported = this.#reported.filter((limit) => !reported.includes(limit));
    return true;
  }

  #learn(stored: StoredBudget): void {
    this.#stored = stored;
    this.#isSure = true;
    this.#readAt = this.#elapsed();
  }
}
