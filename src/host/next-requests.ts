import type { RequestPriority } from '../pipeline/file/ports.ts';
import { arePollsWithoutShare, spend } from './budget-window.ts';
import type { BudgetWindow } from './budget-window.ts';
import { priorities } from './waiters.ts';
import type { Waiter, Waiters } from './waiters.ts';

/** Who may leave next. */
export interface NextRequests {
  readonly chosen: readonly Waiter[];
  /** With those that were chosen. */
  readonly window: BudgetWindow;
  /** Priorities that have to wait: for room in the hour, or because others go first. */
  readonly waits: readonly {
    readonly priority: RequestPriority;
    readonly waitMs: number;
    readonly isForRoom: boolean;
  }[];
}

/**
 * Pure: the most urgent waiters for whom there is room.
 *
 * @param at.most how many at most, at least 1
 * @param at.rest how long a priority lets others go first, in milliseconds; 0 or less: it may look now
 */
export function nextRequests(
  waiters: Pick<Waiters, 'in'>,
  window: BudgetWindow,
  at: {
    readonly nowMs: number;
    readonly limit: number;
    readonly most: number;
    rest(priority: RequestPriority): number;
  },
): NextRequests {
  const chosen: Waiter[] = [];
  const waits: NextRequests['waits'][number][] = [];
  let current = window;
  for (const priority of orderOf(waiters, window, at)) {
    const restMs = at.rest(priority);
    for (const waiter of waiters.in(priority)) {
      if (chosen.length >= at.most) break;
      if (restMs > 0) {
        waits.push({ priority, waitMs: restMs, isForRoom: false });
        break;
      }
      const spending = spend(current, at.nowMs, priority, at.limit);
      current = spending.window;
      if (!spending.granted) {
        waits.push({ priority, waitMs: spending.waitMs, isForRoom: true });
        break;
      }
      chosen.push(waiter);
    }
  }
  return { chosen, window: current, waits };
}

/** Who is asked first. Where questions have no share of their own, they and creates take turns. */
function orderOf(
  waiters: Pick<Waiters, 'in'>,
  window: BudgetWindow,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): readonly RequestPriority[] {
  const [create] = waiters.in('create');
  const [poll] = waiters.in('poll');
  const isFirst = poll !== undefined && poll.number < (create?.number ?? Infinity);
  return isFirst && arePollsWithoutShare(window, nowMs, limit) ? ['finish', 'poll', 'create'] : priorities;
}
