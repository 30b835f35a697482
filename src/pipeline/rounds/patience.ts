import { backoffMs, isCounted } from '../file/backoff.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import type { Failure, FailureKind } from '../file/failure.ts';
import type { Clock } from '../file/ports.ts';

/** Backoff for work that is no step of a file: feeds, late metadata, files to put away. In memory: a restart tries at once. */
export interface Patience {
  /** Whether it is left alone at present. */
  rests(key: string): boolean;
  /** How many are or were left alone. */
  size(): number;
  /** It failed. @returns false when it has used up its attempts; it is then forgotten */
  isWorthAnother(key: string, failure: Failure): boolean;
  forget(key: string): void;
}

/** Asking again cannot help. */
const hopeless: ReadonlySet<FailureKind> = new Set(['permanent', 'gone', 'changed', 'vanished']);

export function createPatience(clock: Clock, retry: () => RetryPolicy): Patience {
  const waits = new Map<string, { readonly attempts: number; readonly notBefore: number }>();
  return {
    rests: (key) => (waits.get(key)?.notBefore ?? 0) > clock.elapsed(),
    size: () => waits.size,
    isWorthAnother: (key, failure) => {
      const policy = retry();
      const attempts = (waits.get(key)?.attempts ?? 0) + (isCounted(failure) ? 1 : 0);
      waits.delete(key);
      if (hopeless.has(failure.kind) || attempts >= policy.attempts) return false;
      const waitMs = backoffMs(Math.max(1, attempts), failure, policy, Math.random());
      waits.set(key, { attempts, notBefore: clock.elapsed() + waitMs });
      return true;
    },
    forget: (key) => {
      waits.delete(key);
    },
  };
}
