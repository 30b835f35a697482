import type { BudgetStore, StoredBudget } from './budget-store.ts';
import type { RateLimitReport } from '@dropcast/client';
import { block, closedUntil, countsOf, emptyWindow, minuteOf, withoutReserve, withReported } from './budget-window.ts';
import type { BudgetWindow, Refusal, Reserve } from './budget-window.ts';
import { limitsOf, unexpired, withNewer } from './reported-limits.ts';
import type { ReportedLimit } from './reported-limits.ts';

const none: Reserve = { minute: 0, left: 0, counted: 0 };

/**
 * The budget as this host knows it: the stored window, without requests that are counted there but unused, and with
 * 429s and reported limits that are not stored yet.
 */
export function createKnownBudget(store: BudgetStore, elapsed: () => number) {
  let known: StoredBudget | null = null;
  let isSure = false;
  let readAt = -Infinity;
  let reserve = none;
  let refusals: readonly Refusal[] = [];
  let reported: readonly ReportedLimit[] = [];
  /** Whether the stored window says what a former service reported. */
  let isFormer = false;

  const window = (): BudgetWindow => {
    const now = store.now();
    const stored = known?.window ?? emptyWindow;
    const used = withReported(withoutReserve(isFormer ? countsOf(stored) : stored, reserve), reported, now);
    return refusals.reduce((before, refusal) => block(before, now, refusal), used);
  };

  const learn = (stored: StoredBudget): void => {
    known = stored;
    isSure = true;
    readAt = elapsed();
  };

  /** Reads the stored window unless it is known. @throws the store's error */
  const read = async (): Promise<void> => {
    if (known === null || !isSure) learn(await store.load());
  };

  /**
   * Whether the store describes a former service, or does not say that the service refuses requests. Limits with room
   * are stored with the next request, because nearly every answer reports some.
   */
  const isStoreWrong = (): boolean => {
    if (isFormer || refusals.length > 0) return true;
    if (reported.length === 0 || known === null) return false;
    return closedUntil(window(), store.now()) > closedUntil(known.window, store.now());
  };

  const swap = async (changed: BudgetWindow): Promise<boolean> => {
    if (known === null) return false;
    const before = { refusals: refusals.length, reported, isFormer };
    const { isOurs, stored } = await store.swap(known, changed).catch((error: unknown) => {
      // Stored or not, the requests counted in this window are now treated as spent.
      isSure = false;
      reserve = none;
      throw error;
    });
    learn(stored);
    if (!isOurs) return false;
    reserve = none;
    if (before.isFormer) isFormer = false;
    refusals = refusals.slice(before.refusals);
    reported = reported.filter((limit) => !before.reported.includes(limit));
    return true;
  };

  const isUnwritten = (): boolean => reserve.left > 0 || isFormer || refusals.length > 0 || reported.length > 0;

  /** Stores only the requests that were really used. @throws the store's error */
  const giveBack = async (): Promise<void> => {
    if (known === null) return;
    while (isUnwritten()) await swap(window());
  };

  return {
    window,
    read,
    giveBack,
    /** Records a 429. It takes effect immediately, and is stored by the next `refresh` or with the next request. */
    refused: (refusal: Omit<Refusal, 'at'>): void => {
      // The budget's time is unknown before the first read.
      refusals = [...refusals, { ...refusal, ...(known !== null && { at: store.now() }) }];
    },
    /**
     * Records reported limits. They take effect immediately, and are stored by the next `refresh` if they allow
     * nothing, otherwise with the next request.
     */
    reported: (report: RateLimitReport): void => {
      if (known === null) return;
      const nowMs = store.now();
      const { reported: before = [], total } = window();
      reported = withNewer(unexpired(reported, nowMs), limitsOf(report, before, { total, nowMs }));
    },
    /** Forgets the limits that the service reported, because the service or the key has changed. Requests still count. */
    forget: (): void => {
      isFormer = true;
      refusals = [];
      reported = [];
    },
    doubt: (): void => {
      readAt = -Infinity;
    },
    /** Rereads a window that may have changed, and stores what other hosts do not know. @throws the store's error */
    refresh: async (): Promise<void> => {
      await read();
      const isOld = elapsed() - readAt >= store.sharing.freshMs;
      if (isStoreWrong() || (isOld && reserve.left > 0)) return giveBack();
      if (isOld) learn(await store.load());
    },
    /** Uses a request that was counted in advance. @returns whether one was left */
    useAhead: (): boolean => {
      const { minute, left, counted } = reserve;
      if (left === 0 || minute !== minuteOf(store.now()) || refusals.length > 0) return false;
      reserve = { minute, left: left - 1, counted: counted - 1 };
      return true;
    },
    /**
     * Stores requests as sent. They then leave through `useAhead`, unless the minute has ended or the service refused;
     * a request sent later would count for too short a time.
     *
     * @param spent.window with all of these requests counted
     * @returns whether they were stored; if not, another host wrote first
     * @throws the store's error; the requests may be stored, but do not leave
     */
    count: async (spent: {
      readonly window: BudgetWindow;
      readonly requests: number;
      readonly ahead: number;
    }): Promise<boolean> => {
      const minute = minuteOf(store.now());
      if (!(await swap(spent.window))) return false;
      reserve = { minute, left: spent.requests + spent.ahead, counted: spent.requests };
      return true;
    },
  };
}
