import { backoffMs, isCounted } from '../file/backoff.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import type { Failure, FailureKind } from '../file/failure.ts';
import type { Clock } from '../file/ports.ts';

/** Kinds of failure for which a retry cannot help. */
const hopeless: ReadonlySet<FailureKind> = new Set(['permanent', 'gone', 'changed', 'vanished']);

/**
 * Backoff for work that is not a step of a file: feeds, late metadata, files to put away. Kept in memory, so everything
 * is retried immediately after a restart.
 *
 * @param retry the current policy, which a reload may change
 * @param ringAt receives the time of the earliest next try on the monotonic clock; each call replaces the one before
 */
export function createBackoffs(clock: Clock, retry: () => RetryPolicy, ringAt: (at: number) => void = () => undefined) {
  /** Time of the pending ring. Only the earliest wait rings; the next tick finds the others. */
  let ringsAt = -Infinity;
  const waits = new Map<string, { readonly attempts: number; readonly notBefore: number }>();
  return {
    isBackingOff: (key: string): boolean => (waits.get(key)?.notBefore ?? 0) > clock.elapsed(),
    /** Returns the time of the next try on the monotonic clock; null if nothing is waiting under this key. */
    nextTryAt: (key: string): number | null => waits.get(key)?.notBefore ?? null,
    /** Returns how many failures of this key have counted since its last success. */
    attempts: (key: string): number => waits.get(key)?.attempts ?? 0,
    /** Returns how many keys are waiting, or have finished waiting and not been tried since. */
    size: (): number => waits.size,
    /** Records a failure. @returns whether there will be another try; if not, the key is forgotten */
    retryAfter: (key: string, failure: Failure): boolean => {
      const policy = retry();
      const attempts = (waits.get(key)?.attempts ?? 0) + (isCounted(failure) ? 1 : 0);
      waits.delete(key);
      if (hopeless.has(failure.kind) || attempts >= policy.attempts) return false;
      const waitMs = backoffMs(Math.max(1, attempts), failure, policy, Math.random());
      const notBefore = clock.elapsed() + waitMs;
      waits.set(key, { attempts, notBefore });
      if (notBefore < ringsAt || ringsAt <= clock.elapsed()) ringAt((ringsAt = notBefore));
      return true;
    },
    /** Records a success, which ends the backoff. */
    forget: (key: string): void => {
      waits.delete(key);
    },
  };
}
