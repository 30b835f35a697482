import type { Clock, RequestPriority } from '../pipeline/file/ports.ts';
import { emptyWindow, requestsPerWrite } from './budget-window.ts';
import type { BudgetWindow } from './budget-window.ts';

/** The window as it was stored. */
export interface StoredBudget {
  readonly window: BudgetWindow;
  /** Goes up with every write, whoever writes. */
  readonly revision: number;
}

/** The window, and what time it is for it (epoch milliseconds). */
export interface BudgetNow {
  readonly window: BudgetWindow;
  readonly now: number;
}

/** Where the window survives restarts, and where all hosts that use one key find it. */
export interface BudgetStore {
  load(): Promise<StoredBudget>;
  /**
   * Stores a window in place of the one that was read, unless somebody else stored another meanwhile. Resolves when it is on disk; after
   * an error nobody knows whether it is.
   * @returns whether it was stored, and what is stored now
   */
  swap(from: StoredBudget, window: BudgetWindow): Promise<{ readonly isOurs: boolean; readonly stored: StoredBudget }>;
  /** The time of the budget, the same for all who share it: epoch milliseconds. */
  now(): number;
  readonly sharing: Sharing;
}

/** How a gate goes about a store: alone, or beside others. */
export interface Sharing {
  /** How old the known window may get while nobody asks, in milliseconds. */
  readonly freshMs: number;
  /** How many further requests one write counts, for whoever asks next in its minute. */
  ahead(limit: number): number;
  /** How many of those who wait one write serves. @param free requests left of the hour */
  served(free: number): number;
  /** How much later than the others a request may look for room that was waited for, in milliseconds. */
  delayMs(priority: RequestPriority): number;
  /** How long a request lets others go first after this host got some, or was `beaten` so many times in a row, in milliseconds. */
  pauseMs(priority: RequestPriority, after: { readonly isScarce: boolean; readonly beaten: number }): number;
}

const alone: Sharing = {
  freshMs: Infinity,
  ahead: (limit) => requestsPerWrite(limit) - 1,
  served: () => 1,
  delayMs: () => 0,
  pauseMs: () => 0,
};

/** The window of one host, with the moment of its last write. */
export interface OwnWindow extends BudgetWindow {
  /** By the time of the budget. */
  readonly writtenAt?: number | undefined;
  /** How long the machine had been up then, in milliseconds. */
  readonly upMs?: number | undefined;
}

/** Where one host keeps its window: one row that no one else writes. */
export interface OwnRow {
  /** @returns null when nothing was saved yet */
  load(): Promise<OwnWindow | null>;
  /** Resolves when it is on disk. */
  save(window: OwnWindow): Promise<void>;
}

/**
 * The budget of a host that shares its key with no other: read once.
 *
 * @param uptimeMs how long the machine has been up, in milliseconds, whatever its wall clock says
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
 * Pure: the time of a budget when it is read after a restart. The wall clock may have been set since the last write, so the uptime of the
 * machine counts, and the wall clock only after a reboot, which set the uptime to zero. A reboot cannot be told from a restart once the
 * machine is up for longer than it was then: taking it for a restart makes the hour longer, never the number of requests larger. The time
 * never goes back behind the last write.
 *
 * @param nowMs wall clock, epoch milliseconds
 * @param upMs uptime of the machine, in milliseconds
 */
export function budgetTime(written: Pick<OwnWindow, 'writtenAt' | 'upMs'>, nowMs: number, upMs: number): number {
  const { writtenAt = 0, upMs: upThen = Infinity } = written;
  return upMs < upThen ? Math.max(nowMs, writtenAt) : writtenAt + upMs - upThen;
}

/** Requests that finish something look first; the others leave them so much time. */
const urgentFirstMs = 500;
const spreadMs = 2_000;
/** Long enough for another host to read the window and to write it. */
const letOthersInMs = 5;
const longestPauseMs = 1_000;

/**
 * Beside other hosts. Nothing is counted ahead: a host that does not use it would keep it from the others, and would not hear of a 429 that
 * another host got. When requests fall out of the hour, the hosts look one after the other and take little at a time, so that each gets
 * its share and few are beaten to a write.
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
  // Who was beaten has just read the window: it tries again at once. Beaten with that, too, it waits: there are many.
  if (beaten % 2 === 1) return 0;
  if (priority === 'finish') return letOthersInMs;
  if (beaten > 0) return Math.min(longestPauseMs, letOthersInMs * 2 ** (beaten / 2));
  return isScarce ? longestPauseMs : letOthersInMs;
}
