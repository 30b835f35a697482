import { AbortedError } from '@dropcast/client';
import type { RequestPriority } from '../pipeline/file/ports.ts';
import { arePollsWithoutShare, spend } from './budget-window.ts';
import type { BudgetWindow } from './budget-window.ts';

interface Waiter {
  /** Sequence number in order of arrival. */
  readonly number: number;
  isWaiting(): boolean;
  go(): void;
  refuse(reason: unknown): void;
}

export const priorities: readonly RequestPriority[] = ['finish', 'create', 'poll'];

export type Waiters = ReturnType<typeof createWaiters>;

/**
 * Keeps the requests waiting at the gate, each in the lane of its priority.
 *
 * @param elapsed the monotonic clock, in milliseconds
 */
export function createWaiters(elapsed: () => number) {
  const lanes: Readonly<Record<RequestPriority, Map<Waiter, number>>> = {
    finish: new Map(),
    create: new Map(),
    poll: new Map(),
  };
  const waited: Record<RequestPriority, number> = { finish: 0, create: 0, poll: 0 };
  let asked = 0;
  const all = (): readonly Waiter[] => priorities.flatMap((priority) => [...lanes[priority].keys()]);
  return {
    size: (): number => priorities.reduce((sum, priority) => sum + lanes[priority].size, 0),
    /** Returns the waiters of one priority in order of arrival. */
    in: (priority: RequestPriority): Iterable<Waiter> => lanes[priority].keys(),
    /** Resolves when the request may leave. @throws {AbortedError} the signal was aborted */
    add: (priority: RequestPriority, signal: AbortSignal | undefined): Promise<void> =>
      new Promise((resolve, reject) => {
        const lane = lanes[priority];
        const leave = () => {
          waited[priority] += elapsed() - (lane.get(waiter) ?? elapsed());
          lane.delete(waiter);
          signal?.removeEventListener('abort', abort);
        };
        const waiter: Waiter = {
          number: (asked += 1),
          isWaiting: () => lane.has(waiter),
          go: () => (leave(), resolve()),
          refuse: (reason) => (leave(), reject(reason)),
        };
        const abort = () => waiter.refuse(brokenOff(signal));
        signal?.addEventListener('abort', abort, { once: true });
        lane.set(waiter, elapsed());
      }),
    refuseAll: (reason: unknown): void => {
      for (const waiter of all()) waiter.refuse(reason);
    },
    /** Returns how long each priority has waited, including requests still waiting, in milliseconds. */
    waitedMs: (): Readonly<Record<RequestPriority, number>> => {
      const sums = { ...waited };
      for (const priority of priorities)
        for (const since of lanes[priority].values()) sums[priority] += elapsed() - since;
      return sums;
    },
  };
}

/** @param signal the cause; undefined if the gate was closed */
export function brokenOff(signal?: AbortSignal): AbortedError {
  return new AbortedError('waiting for the request budget', signal);
}

export interface NextRequests {
  readonly chosen: readonly Waiter[];
  /** The window with the chosen requests counted. */
  readonly window: BudgetWindow;
  /** Priorities that must wait, for room in the hour or for others to go first. */
  readonly waits: readonly {
    readonly priority: RequestPriority;
    readonly waitMs: number;
    readonly isForRoom: boolean;
  }[];
}

/**
 * Chooses the most urgent waiters for which there is room. Pure.
 *
 * @param at.most maximum number to choose, at least 1
 * @param at.rest how long a priority still lets others go first, in milliseconds; 0 or less if it may check now
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

/** Returns the priorities in serving order. Polls without a share of their own take turns with creates. */
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
