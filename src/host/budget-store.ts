import type { Clock, RequestPriority } from '../pipeline/file/ports.ts';
import { emptyWindow, requestsPerWrite } from './budget-window.ts';
import type { BudgetWindow } from './budget-window.ts';

/** The stored window. */
export interface StoredBudget {
  readonly window: BudgetWindow;
  /** Raised by every write of any host. */
  readonly revision: number;
}

/** The window, and the budget's time (epoch milliseconds). */
export interface BudgetNow {
  readonly window: BudgetWindow;
  readonly now: number;
}

/** Stores the window across restarts, for all hosts that use one key. */
export interface BudgetStore {
  load(): Promise<StoredBudget>;
  /**
   * Replaces the window that was read, unless another host has stored one in the meantime. Resolves when it is on disk;
   * after an error it is unknown whether it is.
   *
   * @returns whether it was stored, and the window stored now
   */
  swap(from: StoredBudget, window: BudgetWindow): Promise<{ readonly isOurs: boolean; readonly stored: StoredBudget }>;
  /** The time of the budget, equal for all hosts that share it: epoch milliseconds. */
  now(): number;
  readonly sharing: Sharing;
}

/** How a gate uses a store: alone or with other hosts. */
export interface Sharing {
  /** How old the known window may become while no request comes, in milliseconds. */
  readonly freshMs: number;
  /** How many further requests one write counts in advance, for later requests of its minute. */
  ahead(limit: number): number;
  /** How many waiting requests one write serves. @param free requests left of the hour */
  served(free: number): number;
  /** How much later than the others a request may check for room, in milliseconds. */
  delayMs(priority: RequestPriority): number;
  /**
   * How long a request lets others go first after this host got room, or lost this many writes in a row, in
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

/** The window of one host, with the time of its last write. */
export interface OwnWindow extends BudgetWindow {
  /** In the time of the budget. */
  readonly writtenAt?: number | undefined;
  /** Uptime of the machine at that time, in milliseconds. */
  readonly upMs?: number | undefined;
}

/** Stores the window of one host, in a row that no other host writes. */
export interface OwnRow {
  /** @returns null when nothing was saved yet */
  load(): Promise<OwnWindow | null>;
  /** Resolves when it is on disk. */
  save(window: OwnWindow): Promise<void>;
}

/**
 * The budget of a host that does not share its key: read once.
 *
 * @param uptimeMs the uptime of the machine in milliseconds, independent of its wall clock
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
 * Pure: the time of a budget when it is read after a restart. The wall clock may have been set since the last write, so
 * the uptime of the machine counts, and the wall clock only after a reboot, which resets the uptime. Once the machine
 * has been up for longer than at the last write, a reboot looks like a restart: that makes the hour longer, never the
 * number of requests larger. The time never goes back before the last write.
 *
 * @param nowMs wall clock, epoch milliseconds
 * @param upMs uptime of the machine, in milliseconds
 */
export function budgetTime(written: Pick<OwnWindow, 'writtenAt' | 'upMs'>, nowMs: number, upMs: number): number {
  const { writtenAt = 0, upMs: upThen = Infinity } = written;
  return upMs < upThen ? Math.max(nowMs, writtenAt) : writtenAt + upMs - upThen;
}

/** Requests that finish work check first; the others give them this much time. */
const urgentFirstMs = 500;
const spreadMs = 2_000;
/** Long enough for another host to read the window and to write it. */
const letOthersInMs = 5;
const longestPauseMs = 1_000;

/**
 * Shares a store with other hosts. Nothing is counted in advance: an idle host would keep such requests from the
 * others, and would not see a 429 that another host got. When requests of the hour expire, the hosts check one after
 * the other and take little at a time, so that each gets its share and few lose a write.
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
  // A host that lost a write has just read the window, so it tries again at once. It waits after it lost that too,
  // because many hosts compete.
  if (beaten % 2 === 1) return 0;
  if (priority === 'finish') return letOthersInMs;
  if (beaten > 0) return Math.min(longestPauseMs, letOthersInMs * 2 ** (beaten / 2));
  return isScarce ? longestPauseMs : letOthersInMs;
}
