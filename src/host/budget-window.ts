import type { RequestRoom } from '../pipeline/estimate.ts';
import type { RequestPriority } from '../pipeline/file/ports.ts';
import { keptRequests } from '../pipeline/request-shares.ts';

/**
 * The requests of the last hour, counted per minute of the budget's time, which never goes back: one row, written
 * before requests leave. It uses counters instead of one GCRA number, because then a burst may use the whole hour at
 * once, and steady use still gets nearly all of it (decision 2).
 */
export interface BudgetWindow {
  /** [minute since the epoch, requests], oldest first, at most 61 of them. */
  readonly minutes: readonly (readonly [minute: number, count: number])[];
  /** Nothing is sent before this time (epoch milliseconds); 0 when open. */
  readonly blockedUntil: number;
  /** After a block, one request is sent alone, to see whether the service still refuses. */
  readonly isProbing: boolean;
  /** Requests since the row was created. */
  readonly total: number;
  /** Other users of the key, if noticed. */
  readonly others?: OthersUse;
}

export const emptyWindow: BudgetWindow = { minutes: [], blockedUntil: 0, isProbing: false, total: 0 };

type Spending =
  | { readonly granted: true; readonly window: BudgetWindow }
  | { readonly granted: false; readonly window: BudgetWindow; readonly waitMs: number };

export const minuteMs = 60_000;
const hourMs = 3_600_000;
const longestWaitMs = hourMs;

/** The current minute and the 60 before it: never less than the last hour, so the limit holds in every rolling hour. */
const windowMinutes = 61;

/** How long the first request after a block is alone. Answers take well under a second; a 429 blocks again. */
const probeMs = 2000;

/** The wait after a 429 without `Retry-After`: api-spec.md section 8 promises the header, but proxies may omit it. */
const defaultBlockMs = 60_000;

/**
 * Pure: takes one request from the hour if there is room for its priority.
 *
 * @param nowMs epoch milliseconds
 * @param limit requests per hour, at least 1
 * @returns the next window in either case; `waitMs` is the time until the next try, at most 61 minutes
 */
export function spend(window: BudgetWindow, nowMs: number, priority: RequestPriority, limit: number): Spending {
  const current = atTime(window, nowMs);
  const shares = sharesNow(current, nowMs, limit);
  const roomMs = untilRoom(current, nowMs, ceilingOf(priority, shares));
  // The assumed use by others decreases in the meantime.
  const waitMs = Math.max(current.blockedUntil - nowMs, shares.others > 0 ? Math.min(roomMs, minuteMs) : roomMs);
  if (waitMs > 0) return { granted: false, window: current, waitMs };
  return { granted: true, window: counted(current, nowMs) };
}

/**
 * Pure: counts further requests of this minute in advance, so that one write covers all of them: they are on disk as
 * spent before the first of them leaves. A kill loses those that have not left.
 *
 * @param limit requests per hour, at least 1
 * @param most how many at most, 0 or more
 * @returns the window to save, and how many were counted in advance; none after a 429, when one request is sent alone
 */
export function spendAhead(
  window: BudgetWindow,
  limit: number,
  most: number,
): { readonly window: BudgetWindow; readonly ahead: number } {
  const newest = window.minutes.at(-1);
  const ahead = Math.min(most, limit - usedOf(window));
  if (newest === undefined || ahead <= 0 || window.blockedUntil > 0) return { window, ahead: 0 };
  const minutes = [...window.minutes.slice(0, -1), [newest[0], newest[1] + ahead] as const];
  return { window: { ...window, minutes }, ahead };
}

/** Few enough that a kill costs no more than a hundredth of the hour. */
export function requestsPerWrite(limit: number): number {
  return Math.max(1, Math.min(8, Math.floor(limit / 100)));
}

/** Requests that a stored window counts and that have not been sent. */
export interface Reserve {
  readonly minute: number;
  readonly left: number;
  /** How many of them `total` of the window already includes; negative: requests have been sent that it lacks. */
  readonly counted: number;
}

/** Pure: the window without those requests. */
export function withoutReserve(window: BudgetWindow, { minute, left, counted }: Reserve): BudgetWindow {
  const minutes = window.minutes
    .map(([at, count]) => [at, at === minute ? count - left : count] as const)
    .filter(([, count]) => count > 0);
  return { ...window, minutes, total: window.total - counted };
}

/** A 429 of the service. */
export interface Refusal {
  /** The requested wait; a minute if undefined; limited to 1 s to 1 h. */
  readonly retryAfterMs: number | undefined;
  readonly limit: number;
  /** When it came, if that is not now: epoch milliseconds. */
  readonly at?: number;
}

/** Pure: blocks every request, because the service answered 429. @param nowMs epoch milliseconds */
export function block(window: BudgetWindow, nowMs: number, { retryAfterMs, limit, at = nowMs }: Refusal): BudgetWindow {
  const current = atTime(window, nowMs);
  const until = Math.min(at, nowMs) + believedWait(retryAfterMs ?? defaultBlockMs);
  const blockedUntil = Math.max(current.blockedUntil, until);
  const others = noticeOthers(current.others, { used: usedOf(current), limit, retryAfterMs, nowMs });
  return {
    ...current,
    blockedUntil,
    isProbing: true,
    ...(others !== undefined && { others }),
  };
}

/** Limits a wait that the service asks for to 1 s to 1 h. A service that asks for more is polled hourly. */
export function believedWait(ms: number): number {
  return Math.min(Math.max(ms, 1000), longestWaitMs);
}

/**
 * How many of an hour's requests a priority may use. Work in progress must always find room to finish (design section
 * 7).
 *
 * @param hour.toFinish requests reserved for finishing
 * @param hour.others requests that others use with the same key
 */
export function ceilingOf(
  priority: RequestPriority,
  { limit, toFinish, others }: { readonly limit: number; readonly toFinish: number; readonly others: number },
): number {
  const ceilings: Record<RequestPriority, number> = {
    finish: limit,
    poll: limit - toFinish - others,
    create: limit - toFinish - keptRequests(limit) - others,
  };
  return Math.max(1, ceilings[priority]);
}

/**
 * Pure: whether creates leave no request of the hour for polls: the limit is one or two, or others use the rest. Then
 * an endless queue of creates must not go first.
 */
export function arePollsWithoutShare(window: BudgetWindow, nowMs: number, limit: number): boolean {
  const shares = sharesNow(atTime(window, nowMs), nowMs, limit);
  return ceilingOf('poll', shares) === ceilingOf('create', shares);
}

function sharesNow(window: BudgetWindow, nowMs: number, limit: number): Parameters<typeof ceilingOf>[1] {
  return { limit, toFinish: keptNow(window, nowMs, limit), others: othersNow(window.others, nowMs) };
}

/** The reserve for finishing is needed until as many requests expire: the sooner that is, the smaller it can be. */
function keptNow(window: BudgetWindow, nowMs: number, limit: number): number {
  const kept = keptRequests(limit);
  let freed = 0;
  for (const [inMs, count] of freesOf(window, nowMs)) {
    freed += count;
    if (freed >= 2 * kept) return Math.ceil(kept * Math.min(1, inMs / hourMs));
  }
  return kept;
}

/**
 * Pure: the valid window when two stores of one budget differ because one lost its last writes: the larger counter of
 * each minute.
 */
export function merged(one: BudgetWindow, other: BudgetWindow): BudgetWindow {
  const counts = new Map(one.minutes);
  for (const [minute, count] of other.minutes) counts.set(minute, Math.max(count, counts.get(minute) ?? 0));
  const [open, blocked] = one.blockedUntil > other.blockedUntil ? [other, one] : [one, other];
  return {
    ...open,
    ...blocked,
    minutes: [...counts].toSorted(([earlier], [later]) => earlier - later),
    total: Math.max(one.total, other.total),
  };
}

/** The used part of the hour, and what may be sent. */
export interface Usage {
  /** Requests of the last hour. */
  readonly used: number;
  readonly limit: number;
  /** How long nothing is sent, in milliseconds. */
  readonly blockedMs: number;
  /** When requests of the last hour expire, earliest first. */
  readonly frees: readonly (readonly [inMs: number, requests: number])[];
  /** Requests that others use in an hour, as far as noticed. */
  readonly others: number;
}

/** Pure. @param nowMs epoch milliseconds @param limit requests per hour, at least 1 */
export function usageOf(window: BudgetWindow, nowMs: number, limit: number): Usage {
  const current = atTime(window, nowMs);
  return {
    used: usedOf(current),
    limit,
    blockedMs: Math.max(0, current.blockedUntil - nowMs),
    frees: freesOf(current, nowMs),
    others: othersNow(current.others, nowMs),
  };
}

/** Requests of the last hour; see `atTime`. */
export function usedOf(window: BudgetWindow): number {
  return window.minutes.reduce((sum, [, count]) => sum + count, 0);
}

/**
 * When requests of the hour expire, earliest first. @param nowMs epoch milliseconds @returns milliseconds from then,
 * and how many
 */
function freesOf(window: BudgetWindow, nowMs: number): readonly (readonly [inMs: number, requests: number])[] {
  return window.minutes.map(([minute, count]) => [(minute + windowMinutes) * minuteMs - nowMs, count] as const);
}

/** Brings a window to the present: drops counters over an hour old, and an expired block. */
function atTime(window: BudgetWindow, nowMs: number): BudgetWindow {
  const oldest = minuteOf(nowMs) - windowMinutes;
  const minutes = window.minutes.filter(([at]) => at > oldest);
  return { ...window, minutes, blockedUntil: window.blockedUntil <= nowMs ? 0 : window.blockedUntil };
}

function counted(window: BudgetWindow, nowMs: number): BudgetWindow {
  const minute = minuteOf(nowMs);
  const newest = window.minutes.at(-1);
  const minutes =
    newest?.[0] === minute
      ? [...window.minutes.slice(0, -1), [minute, newest[1] + 1] as const]
      : [...window.minutes, [minute, 1] as const];
  const blockedUntil = window.isProbing ? nowMs + probeMs : 0;
  return { ...window, minutes, blockedUntil, isProbing: false, total: window.total + 1 };
}

/** Milliseconds until enough old counters have expired. */
function untilRoom(window: BudgetWindow, nowMs: number, ceiling: number): number {
  let used = usedOf(window);
  if (used < ceiling) return 0;
  for (const [minute, count] of window.minutes) {
    used -= count;
    if (used < ceiling) return (minute + windowMinutes) * minuteMs - nowMs;
  }
  return minuteMs;
}

/** The minute in which a request is counted. @param ms epoch milliseconds @returns minutes since the epoch */
export function minuteOf(ms: number): number {
  return Math.floor(ms / minuteMs);
}

/** Pure: the requests that may be sent, as the pipeline counts them. */
export function roomOf({ limit, used, others, blockedMs, frees }: Usage): RequestRoom {
  return { limit, left: Math.max(0, limit - used - others), closedMs: blockedMs, frees };
}

/** The use of the key's hour by others, as last noticed. */
interface OthersUse {
  readonly requests: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * A shorter `Retry-After` concerns a burst, not the hour. A 429 without one does not come from the service, which
 * always states the wait (api-spec section 8): a proxy may have a limit of its own.
 */
const leastWaitMs = 10_000;

/**
 * Pure: derives the use by others from a 429. The service counts all users of the key: if it refuses although our own
 * hour has room, others used the difference. There is no other source, because the specification has no header for the
 * remaining requests.
 *
 * @param used our own requests of the last hour
 * @returns the previous value if the 429 shows nothing
 */
function noticeOthers(
  before: OthersUse | undefined,
  about: {
    readonly used: number;
    readonly limit: number;
    readonly retryAfterMs: number | undefined;
    readonly nowMs: number;
  },
): OthersUse | undefined {
  const { used, limit, retryAfterMs, nowMs } = about;
  if (used >= limit || (retryAfterMs ?? 0) < leastWaitMs) return before;
  return { requests: limit - used, at: nowMs };
}

/**
 * Pure: the use by others that is still assumed, in requests. They may have stopped, so it decreases to 0 within an
 * hour, and the next 429 corrects it. @param nowMs epoch milliseconds
 */
export function othersNow(others: OthersUse | undefined, nowMs: number): number {
  if (others === undefined) return 0;
  // A clock that was set back makes nothing last longer than an hour.
  const ageMs = Math.min(hourMs, Math.abs(nowMs - others.at));
  return Math.ceil(others.requests * (1 - ageMs / hourMs));
}
