import type { RequestRoom } from '../pipeline/estimate.ts';
import type { RequestPriority } from '../pipeline/file/ports.ts';
import { keptRequests } from '../pipeline/request-shares.ts';
import { perHour, strictestRoom, unexpired, untilReset, withNewer } from './reported-limits.ts';
import type { ReportedLimit, ReportedRoom } from './reported-limits.ts';

/**
 * Requests in the last hour, counted per minute of the budget's time, which never goes back. Stored as one row, written
 * before requests leave. Counters are used instead of a single GCRA number so that a burst may use the whole hour
 * immediately, while steady use still gets nearly all of it (decision 2).
 */
export interface BudgetWindow {
  /** [minute since the epoch, requests], oldest first, at most 61 of them. */
  readonly minutes: readonly (readonly [minute: number, count: number])[];
  /** Nothing is sent before this time (epoch milliseconds); 0 if the gate is open. */
  readonly blockedUntil: number;
  /** True after a block: the next request is sent alone to find out whether the service still refuses. */
  readonly isProbing: boolean;
  /** Number of requests since the row was created. */
  readonly total: number;
  readonly others?: OthersUse;
  readonly reported?: readonly ReportedLimit[];
}

export const emptyWindow: BudgetWindow = { minutes: [], blockedUntil: 0, isProbing: false, total: 0 };

type Spending =
  | { readonly granted: true; readonly window: BudgetWindow }
  | { readonly granted: false; readonly window: BudgetWindow; readonly waitMs: number };

export const minuteMs = 60_000;
const hourMs = 3_600_000;
const longestWaitMs = hourMs;

/**
 * The current minute and the 60 before it. They always cover the last hour, so the limit holds in every rolling hour.
 */
const windowMinutes = 61;

/** How long the first request after a block is alone. Answers take well under a second, and a 429 blocks again. */
const probeMs = 2000;

/** Wait after a 429 without `Retry-After`. api-spec.md section 8 promises the header, but proxies may omit it. */
const defaultBlockMs = 60_000;

/**
 * Uses one of the hour's requests if there is room for its priority. Pure.
 *
 * @param nowMs epoch milliseconds
 * @param limit requests per hour, at least 1
 * @returns the next window in either case; `waitMs` is the time until the next try, at most 61 minutes
 */
export function spend(window: BudgetWindow, nowMs: number, priority: RequestPriority, limit: number): Spending {
  const current = atTime(window, nowMs);
  const shares = sharesNow(current, nowMs, limit);
  const roomMs = untilRoom(current, nowMs, ceilingOf(priority, shares));
  // Checks again within a minute, because the assumed use by others decreases in the meantime.
  const waitMs = Math.max(
    current.blockedUntil - nowMs,
    untilReset(current.reported ?? [], current.total, { nowMs, priority }),
    shares.others > 0 ? Math.min(roomMs, minuteMs) : roomMs,
  );
  if (waitMs > 0) return { granted: false, window: current, waitMs };
  return { granted: true, window: counted(current, nowMs) };
}

/**
 * Counts further requests of this minute in advance, so that one write covers all of them. They are on disk as spent
 * before the first one leaves. If the process is killed, requests that have not left are lost. Pure.
 *
 * @param limit requests per hour, at least 1
 * @param most maximum number to count, 0 or more
 * @returns the window to save, and how many were counted in advance; none after a 429, when one request is sent alone
 */
export function spendAhead(
  window: BudgetWindow,
  limit: number,
  most: number,
): { readonly window: BudgetWindow; readonly ahead: number } {
  const newest = window.minutes.at(-1);
  const allowed = (window.reported ?? []).map(({ usedUpAt }) => usedUpAt - window.total);
  const ahead = Math.min(most, limit - usedOf(window), ...allowed);
  if (newest === undefined || ahead <= 0 || window.blockedUntil > 0) return { window, ahead: 0 };
  const minutes = [...window.minutes.slice(0, -1), [newest[0], newest[1] + ahead] as const];
  return { window: { ...window, minutes }, ahead };
}

/** Returns how many requests one write covers, so that a kill costs at most a hundredth of the hour. */
export function requestsPerWrite(limit: number): number {
  return Math.max(1, Math.min(8, Math.floor(limit / 100)));
}

/** Requests that a stored window counts but that have not been sent. */
export interface Reserve {
  readonly minute: number;
  readonly left: number;
  /** How many of these requests the window's `total` includes. Negative if `total` lacks requests that were sent. */
  readonly counted: number;
}

/** Removes a reserve from a window. Pure. */
export function withoutReserve(window: BudgetWindow, { minute, left, counted }: Reserve): BudgetWindow {
  const minutes = window.minutes
    .map(([at, count]) => [at, at === minute ? count - left : count] as const)
    .filter(([, count]) => count > 0);
  return { ...window, minutes, total: window.total - counted };
}

/** Returns the requests of a window, without anything that a service reported. Pure. */
export function countsOf({ minutes, total }: BudgetWindow): BudgetWindow {
  return { ...emptyWindow, minutes, total };
}

/** A 429 from the service. */
export interface Refusal {
  /** Requested wait, limited to 1 s to 1 h; a minute if undefined. */
  readonly retryAfterMs: number | undefined;
  readonly limit: number;
  /** When the 429 arrived, if not now, in epoch milliseconds. */
  readonly at?: number;
}

/** Blocks every request after a 429. Pure. @param nowMs epoch milliseconds */
export function block(window: BudgetWindow, nowMs: number, { retryAfterMs, limit, at = nowMs }: Refusal): BudgetWindow {
  const current = atTime(window, nowMs);
  const until = Math.min(at, nowMs) + believedWait(retryAfterMs ?? defaultBlockMs);
  const blockedUntil = Math.max(current.blockedUntil, until);
  const others =
    current.reported === undefined
      ? noticeOthers(current.others, { used: usedOf(current), limit, retryAfterMs, nowMs })
      : current.others;
  return {
    ...current,
    blockedUntil,
    isProbing: true,
    ...(others !== undefined && { others }),
  };
}

/** Limits a wait that the service requests to 1 s to 1 h. A service that requests more is polled hourly. */
export function believedWait(ms: number): number {
  return Math.min(Math.max(ms, 1000), longestWaitMs);
}

/**
 * Returns how many of an hour's requests a priority may use. Work in progress must always have room to finish (design
 * section 7).
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
 * Whether creates leave no requests for polls, because the limit is one or two or others use the rest. In that case, an
 * endless queue of creates must not go first. Pure.
 */
export function arePollsWithoutShare(window: BudgetWindow, nowMs: number, limit: number): boolean {
  const shares = sharesNow(atTime(window, nowMs), nowMs, limit);
  return ceilingOf('poll', shares) === ceilingOf('create', shares);
}

function sharesNow(window: BudgetWindow, nowMs: number, limit: number): Parameters<typeof ceilingOf>[1] {
  return { limit, toFinish: keptNow(window, nowMs, limit), others: othersNow(window.others, nowMs) };
}

/**
 * Returns the reserve for finishing, needed only until enough requests expire. The sooner they do, the smaller the
 * reserve can be.
 */
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
 * Merges two windows of one budget that differ because one store lost its last writes. The larger counter of each
 * minute is valid. Pure.
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
    ...reportedIn(withNewer(other.reported ?? [], one.reported ?? [])),
  };
}

/**
 * Adds limits that the service has just reported. They say what others use, too. Pure.
 * @param nowMs epoch milliseconds
 */
export function withReported(window: BudgetWindow, newer: readonly ReportedLimit[], nowMs: number): BudgetWindow {
  if (newer.length === 0) return window;
  const { others: _, ...current } = atTime(window, nowMs);
  return atTime({ ...current, ...reportedIn(withNewer(current.reported ?? [], newer)) }, nowMs);
}

function reportedIn(reported: readonly ReportedLimit[]): Pick<BudgetWindow, 'reported'> {
  return reported.length === 0 ? {} : { reported };
}

/** Returns when the service accepts requests again, in epoch milliseconds; 0 if nothing is known against it. Pure. */
export function closedUntil(window: BudgetWindow, nowMs: number): number {
  const { blockedUntil, reported = [], total } = atTime(window, nowMs);
  const resetMs = untilReset(reported, total, { nowMs, priority: 'finish' });
  return Math.max(blockedUntil, resetMs === 0 ? 0 : nowMs + resetMs);
}

/** How much of the hour is used, and what may still be sent. */
export interface Usage {
  /** Number of requests in the last hour. */
  readonly used: number;
  readonly limit: number;
  /** How long nothing may be sent, in milliseconds. */
  readonly blockedMs: number;
  /** The strictest reported limit, if it allows fewer requests than the hour has left; null otherwise. */
  readonly reported: ReportedRoom | null;
  /** When requests in the last hour expire, earliest first. */
  readonly frees: readonly (readonly [inMs: number, requests: number])[];
  /** Requests per hour used by others, as far as noticed. */
  readonly others: number;
}

/** Returns the usage at a time. Pure. @param nowMs epoch milliseconds @param limit requests per hour, at least 1 */
export function usageOf(window: BudgetWindow, nowMs: number, limit: number): Usage {
  const current = atTime(window, nowMs);
  const used = usedOf(current);
  const others = othersNow(current.others, nowMs);
  const room = strictestRoom(current.reported ?? [], current.total, nowMs);
  return {
    used,
    limit,
    blockedMs: Math.max(0, closedUntil(current, nowMs) - nowMs),
    reported: room === null || perHour(room) >= limit - used - others ? null : room,
    frees: freesOf(current, nowMs),
    others,
  };
}

/** Returns the number of requests in the last hour; see `atTime`. */
export function usedOf(window: BudgetWindow): number {
  return window.minutes.reduce((sum, [, count]) => sum + count, 0);
}

/**
 * Returns when requests in the last hour expire, earliest first. @param nowMs epoch milliseconds @returns milliseconds
 * from `nowMs`, and the number of requests
 */
function freesOf(window: BudgetWindow, nowMs: number): readonly (readonly [inMs: number, requests: number])[] {
  return window.minutes.map(([minute, count]) => [(minute + windowMinutes) * minuteMs - nowMs, count] as const);
}

/** Brings a window up to date: drops counters over an hour old, an expired block, and limits whose reset has come. */
function atTime({ reported = [], ...window }: BudgetWindow, nowMs: number): BudgetWindow {
  const oldest = minuteOf(nowMs) - windowMinutes;
  const minutes = window.minutes.filter(([at]) => at > oldest);
  const current = { ...window, ...reportedIn(unexpired(reported, nowMs)) };
  return { ...current, minutes, blockedUntil: window.blockedUntil <= nowMs ? 0 : window.blockedUntil };
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

/** Returns the time until enough old counters have expired, in milliseconds. */
function untilRoom(window: BudgetWindow, nowMs: number, ceiling: number): number {
  let used = usedOf(window);
  if (used < ceiling) return 0;
  for (const [minute, count] of window.minutes) {
    used -= count;
    if (used < ceiling) return (minute + windowMinutes) * minuteMs - nowMs;
  }
  return minuteMs;
}

/** Returns the minute in which a request is counted. @param ms epoch milliseconds @returns minutes since the epoch */
export function minuteOf(ms: number): number {
  return Math.floor(ms / minuteMs);
}

/** Returns the requests that may be sent, in the form that the pipeline uses. Pure. */
export function roomOf({ limit, used, others, reported, blockedMs, frees }: Usage): RequestRoom {
  if (reported === null) return { limit, left: Math.max(0, limit - used - others), closedMs: blockedMs, frees };
  // A stricter limit of the service replaces that of the hour, so that shares of it are reserved.
  const left = perHour(reported);
  return { limit: Math.min(limit, used + left), left, closedMs: blockedMs, frees };
}

/** Use of the key by others within an hour, as last noticed. */
interface OthersUse {
  readonly requests: number;
  /** When this was noticed, in epoch milliseconds. */
  readonly at: number;
}

/**
 * Longest `Retry-After` that is about a burst rather than the hour: PeerTube counts per ten seconds. A 429 without the
 * header does not come from the service, which always states the wait (api-spec section 8), but perhaps from a proxy
 * with its own limit.
 */
const longestBurstMs = 10_000;

/**
 * Derives the use by others from a 429. The service counts all users of the key, so if it refuses although our own hour
 * has room, others used the difference. Only a service that reports what is left says so in another way. Pure.
 *
 * @param used our own requests in the last hour
 * @returns the previous value if the 429 proves nothing
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
  if (used >= limit || (retryAfterMs ?? 0) <= longestBurstMs) return before;
  return { requests: limit - used, at: nowMs };
}

/**
 * Returns how many requests others are still assumed to use. They may have stopped, so the number decreases to 0 within
 * an hour, and the next 429 corrects it. Pure. @param nowMs epoch milliseconds
 */
export function othersNow(others: OthersUse | undefined, nowMs: number): number {
  if (others === undefined) return 0;
  // If the clock was set back, the assumption still ends within an hour.
  const ageMs = Math.min(hourMs, Math.abs(nowMs - others.at));
  return Math.ceil(others.requests * (1 - ageMs / hourMs));
}
