/** What others used of the key's hour when that was last noticed. */
export interface OthersUse {
  readonly requests: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

const hourMs = 3_600_000;

/**
 * A shorter `Retry-After` is about a burst, not about the hour. Without one, the 429 is not of the service, which always says how long to wait
 * (api-spec section 8): a proxy before it may have a limit of its own.
 */
const leastWaitMs = 10_000;

/**
 * Pure: what a 429 says about others. The service counts all that use the key: if it refuses although our own hour has room, what is
 * missing went to them. Nothing else tells: the specification has no header for what is left.
 *
 * @param used our own requests of the last hour
 * @returns what was known before, if it says nothing
 */
export function noticeOthers(
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

/** Pure: how much of it is still assumed, in requests. Others may have stopped: it fades within an hour, and the next 429 corrects it. @param nowMs epoch milliseconds */
export function othersNow(others: OthersUse | undefined, nowMs: number): number {
  if (others === undefined) return 0;
  // A clock that was set back makes nothing last longer than an hour.
  const ageMs = Math.min(hourMs, Math.abs(nowMs - others.at));
  return Math.ceil(others.requests * (1 - ageMs / hourMs));
}
