import type { Clock } from '../file/ports.ts';

/** The first number of slots, which is also the least, and the most: more uploads would compete for disk and memory. */
const [least, most] = [4, 16];
/** How long the rate is measured with one number of slots, in milliseconds. */
const spanMs = 3_000;
/** Time between a number that was no better and the next trial, in milliseconds. */
const restMs = 60_000;
/** Factor between two numbers, and the gain in rate that more slots must bring. Fewer slots may lose half of that gain. */
const [stepFactor, leastGain] = [1.5, 1.1];

/**
 * Chooses the number of upload slots for `uploads.concurrency: auto`. One connection does not fill a long line: loss
 * and delay limit its rate (RFC 5681), and a small file leaves the line empty before and after its bytes. So the number
 * grows as long as the rate of all uploads grows with it, and shrinks as long as nothing is lost.
 *
 * @param sentBytes total bytes sent so far
 */
export function createAutoSlots(clock: Pick<Clock, 'elapsed'>, sentBytes: () => number) {
  let slots = least;
  let isRising = true;
  /** The number before the one on trial, with its rate in bytes per millisecond. */
  let before: { readonly slots: number; readonly rate: number } | null = null;
  let span: { readonly at: number; readonly bytes: number } | null = null;
  let restsUntil = 0;

  const turn = (now: number): void => {
    isRising = !isRising;
    before = null;
    restsUntil = now + restMs;
  };

  const judge = (rate: number, now: number): void => {
    const isBetter = before === null || rate > before.rate * (isRising ? leastGain : (1 + 1 / leastGain) / 2);
    if (before !== null && !isBetter) {
      slots = before.slots;
      return turn(now);
    }
    const wanted = isRising ? Math.ceil(slots * stepFactor) : Math.floor(slots / stepFactor);
    const following = Math.min(most, Math.max(least, wanted));
    if (following === slots) return turn(now);
    before = { slots, rate };
    slots = following;
  };

  return {
    /**
     * Returns the number of slots for the next uploads.
     *
     * @param isFull whether the slots are taken; only then does the rate show what the line can do
     */
    next: (isFull: boolean): number => {
      const now = clock.elapsed();
      if (!isFull || now < restsUntil) span = null;
      else if (span === null) span = { at: now, bytes: sentBytes() };
      else if (now - span.at >= spanMs) {
        judge((sentBytes() - span.bytes) / (now - span.at), now);
        span = null;
      }
      return slots;
    },
  };
}
