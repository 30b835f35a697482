import { ownQuotaCode } from './failure.ts';
import type { Failure } from './failure.ts';
import { isDiskFull, passesSoon } from './store-errors.ts';

export interface RetryPolicy {
  /** Counted failures of one step after which the file is `failed`. */
  readonly attempts: number;
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Wait before dropcast probes a suspended account, key or folder again (design section 8). */
export const suspensionProbeMs = 5 * 60_000;

/**
 * Wait before dropcast checks a full disk again, whether the ledger's or a watched folder's. The check is cheap: it
 * sends no request, because the request budget could not be recorded, and it reads no file until there is room.
 */
const fullDiskMs = 30_000;

/** @returns milliseconds until dropcast checks the cause of a suspension again */
export function suspendedMs(code: string): number {
  return isDiskFull(code) ? fullDiskMs : suspensionProbeMs;
}

/** Bounds on the wait between probes of an unreachable host: 1 s, doubling up to a minute. */
const probeMs = { first: 1_000, most: 60_000 };

/** @param probes number of probes so far @returns milliseconds */
export function offlineProbeMs(probes: number): number {
  return Math.min(probeMs.most, probeMs.first * 2 ** Math.min(probes, 6));
}

/** Bounds on the wait after a failure of the network or of the whole service. */
const offlineMs = { least: 2_000, most: 20_000 };

/**
 * Wait before the next attempt: exponential backoff with full jitter, as in the AWS Architecture Blog's 'Exponential
 * Backoff And Jitter', and never shorter than the other side asked for.
 *
 * @param attempts counted failures of this step so far, from 1
 * @param random in [0, 1)
 * @returns milliseconds, at least 1
 */
export function backoffMs(attempts: number, failure: Failure, policy: RetryPolicy, random: number): number {
  const asked = failure.retryAfterMs ?? 0;
  switch (failure.kind) {
    case 'suspended':
      // `retryAfterMs` already says when new files are tried next.
      if (failure.account !== undefined || failure.code === ownQuotaCode) return Math.max(1, asked);
      return passesSoon(failure.code) ? awayMs(asked, random) : Math.max(asked, suspendedMs(failure.code));
    case 'offline':
    case 'throttled':
      return awayMs(asked, random);
    default: {
      const ceiling = Math.min(policy.maxMs, policy.firstMs * 2 ** Math.max(0, attempts - 1));
      return Math.max(asked, 1, Math.round(random * ceiling));
    }
  }
}

function awayMs(asked: number, random: number): number {
  if (asked > 0) return asked + random * offlineMs.least;
  return offlineMs.least + random * (offlineMs.most - offlineMs.least);
}

/** How long a file is kept from running after a step that changed nothing, which is a bug. */
export const quarantineMs = 30_000;

/**
 * The longest wait that `backoffMs` or a quarantine can produce. A deadline further ahead was set by a different clock.
 */
export function longestWaitMs(attempts: number, failure: Failure | null, policy: RetryPolicy): number {
  return Math.max(quarantineMs, failure === null ? 0 : backoffMs(Math.max(1, attempts), failure, policy, 1));
}

/** Whether a failure uses up one of the file's attempts. Failures of other kinds do not reflect on the file. */
export function isCounted(failure: Failure): boolean {
  return failure.kind !== 'offline' && failure.kind !== 'throttled' && failure.kind !== 'suspended';
}
