import type { Clock, RequestPriority } from '../pipeline/file/ports.ts';
import { emptyWindow, requestsPerWrite } from './budget-window.ts';
import type { BudgetWindow } from './budget-window.ts';

export interface StoredBudget {
  readonly window: BudgetWindow;
  /** Incremented by every write of any host. */
  readonly revision: number;
}

/** A request window and the budget's time (epoch milliseconds). */
export interface BudgetNow {
  readonly window: BudgetWindow;
  readonly now: number;
}

/** Stores the request window across restarts, for all hosts that use the same key. */
export interface BudgetStore {
  load(): Promise<StoredBudget>;
  /**
   * Replaces the window that was read, unless another host has stored one in the meantime. Resolves once the window is
   * on disk; after an error, it may or may not be.
   *
   * @returns whether it was stored, and the window that is stored now
   */
  swap(from: StoredBudget, window: BudgetWindow): Promise<{ readonly isOurs: boolean; readonly stored: StoredBudget }>;
  /** Returns the budget's time in epoch milliseconds, which is the same for all hosts that share it. */
  now(): number;
  readonly sharing: Sharing;
}

/** How a gate uses a store, alone or together with other hosts. */
export interface Sharing {
  /** How old the known window may become while there are no requests, in milliseconds. */
  readonly freshMs: number;
  /** Returns how many extra requests one write counts in advance, for later in the same minute. */
  ahead(limit: number): number;
  /** Returns how many waiting requests one write serves. @param free requests left this hour */
  served(free: number): number;
  /** Returns how long a request lets others go first before it checks for room, in milliseconds. */
  delayMs(priority: RequestPriority): number;
  /**
   * Returns how long a request lets others go first after this host got room or lost this many writes in a row, in
   * milliseconds.
   */
  pauseMs(priority: RequestPriority, after: { readonly isScarce: boolean; readonly beaten: number }): number;
}

const alone: Sharing = {
  freshMs: Infinity,
  ahead: (limit) => requestsPerWrite(limit) - 1,
  served: () => 1,
  delayMs: () => 0,
  pauseMs: () => 0,
};

/** One host's request window, with the time of its last write. */
export interface OwnWindow extends BudgetWindow {
  /** Time of the last write, in the budget's time. */
  readonly writtenAt?: number | undefined;
  /** The machine's uptime at that time, in milliseconds. */
  readonly upMs?: number | undefined;
}

/** Stores one host's request window, in a row that no other host writes. */
export interface OwnRow {
  /** @returns null if nothing has been saved yet */
  load(): Promise<OwnWindow | null>;
  /** Resolves once the window is on disk. */
  save(window: OwnWindow): Promise<void>;
}

/**
 * Creates the budget store of a host that does not share its key.
 *
 * @param uptimeMs returns the machine's uptime in milliseconds, independent of its wall clock
 */
export function budgetOfOneHost(row: OwnRow, clock: Clock, uptimeMs: () => number): BudgetStore {
  let start = clock.now() - clock.elapsed();
  let isLoaded = false;
  const now = (): number => start + clock.elapsed();
  return {
    load: async () => {
      const { writtenAt, upMs, ...window }: OwnWindow = (await row.load()) ?? emptyWindow;
      if (!isLoaded) start = budgetTime({ writtenAt, upMs }, clock.now(), uptimeMs()) - clock.elapsed();
      isLoaded = true;
      return { window, revision: 0 };
    },
    swap: async (_from, window) => {
      await row.save({ ...window, writtenAt: now(), upMs: uptimeMs() });
      return { isOurs: true, stored: { window, revision: 0 } };
    },
    now,
    sharing: alone,
  };
}

/**
 * Returns a budget's time when it is read after a restart. The wall clock may have been set since the last write, so
 * the machine's uptime counts. The wall clock counts only after a reboot, which resets the uptime. If the machine has
 * been up for longer than at the last write, a reboot looks like a restart; that makes the hour longer, but never
 * allows more requests. The time never goes back to before the last write. Pure.
 *
 * @param nowMs wall clock, epoch milliseconds
 * @param upMs the machine's uptime, in milliseconds
 */
export function budgetTime(written: Pick<OwnWindow, 'writtenAt' | 'upMs'>, nowMs: number, upMs: number): number {
  const { writtenAt = 0, upMs: upThen = Infinity } = written;
  return upMs < upThen ? Math.max(nowMs, writtenAt) : writtenAt + upMs - upThen;
}

/** Head start for requests that finish work. */
const urgentFirstMs = 500;
const spreadMs = 2_000;
/** Pause long enough for another host to read and write the window. */
const letOthersInMs = 5;
const longestPauseMs = 1_000;

/**
 * Shares a store with other hosts. Nothing is counted in advance, because an idle host would withhold such requests
 * from the others and would miss a 429 that another host received. When requests expire, hosts check one after another
 * and take only a few, so that each gets its share and few lose a write.
 *
 * @param random from 0 to below 1
 */
export function besideOthers(random: () => number = Math.random): Sharing {
  return {
    freshMs: 5_000,
    ahead: () => 0,
    served: (free) => Math.max(1, Math.floor(free / 16)),
    delayMs: (priority) =>
      priority === 'finish' ? (random() * urgentFirstMs) / 2 : urgentFirstMs + random() * spreadMs,
    pauseMs: (priority, after) => random() * longestPauseOf(priority, after),
  };
}

function longestPauseOf(
  priority: RequestPriority,
  { isScarce, beaten }: { readonly isScarce: boolean; readonly beaten: number },
): number {
  // A host that lost a write has just read the window, so it retries immediately. If it loses again, many hosts are
  // competing, so it waits.
  if (beaten % 2 === 1) return 0;
  if (priority === 'finish') return letOthersInMs;
  if (beaten > 0) return Math.min(longestPauseMs, letOthersInMs * 2 ** (beaten / 2));
  return isScarce ? longestPauseMs : letOthersInMs;
}
