/**
 * Pure: a time from the ledger, as far as it is believed. The wall clock may have been wrong when it was written, or be wrong now: what has
 * happened lies in the past, and a deadline no further ahead than the wait that it ends. The result moves with `now`: measure from it on
 * the monotonic clock, or the wait never ends. Decision record 0023 lists every stored time.
 *
 * @param at epoch milliseconds, as stored
 * @param now epoch milliseconds
 * @param aheadMs how long the wait can be at most, in milliseconds; 0 for what has happened
 */
export function believed(at: number, now: number, aheadMs = 0): number {
  return Math.min(at, now + aheadMs);
}
