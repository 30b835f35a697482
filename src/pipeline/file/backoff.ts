import type { Failure } from './failure.ts';
import { isDiskFull, passesSoon } from './store-errors.ts';

export interface RetryPolicy {
  /** Counted failures of one step before the file is `failed`. */
  readonly attempts: number;
  readonly firstMs: number;
  readonly maxMs: number;
}

/** How long dropcast waits before it probes a suspended account, key or folder (design section 8). */
export const suspensionProbeMs = 5 * 60_000;

/**
 * How long dropcast waits before it checks a full disk again, of the ledger or of a watched folder. The check is cheap:
 * it sends no request, because the request budget cannot be recorded, and reads no file before there is room for it.
 */
const fullDiskMs = 30_000;

/** @returns milliseconds until dropcast checks again whatever suspended the work */
export function suspendedMs(code: string): number {
  return isDiskFull(code) ? fullDiskMs : suspensionProbeMs;
}

/** Waits between two probes of a host that is away: 1 s, then doubling up to a minute. */
const probeMs = { first: 1_000, most: 60_000 };

/** @param probes how often the host was probed so far @returns milliseconds */
export function offlineProbeMs(probes: number): number {
  return Math.min(probeMs.most, probeMs.first * 2 ** Math.min(probes, 6));
}

/** Bounds of the wait after a failure of the network or of the whole service. */
const offlineMs = { least: 2_000, most: 20_000 };

/**
 * The wait before the next try: exponential with full jitter, as in the AWS Architecture Blog's 'Exponential Backoff
 * And Jitter', and never less than the other side asked for.
 *
 * @param attempts counted failures of this step so far, from 1
 * @param random in [0, 1)
 * @returns milliseconds, at least 1
 */
export function backoffMs(attempts: number, failure: Failure, policy: RetryPolicy, random: number): number {
  const asked = failure.retryAfterMs ?? 0;
  switch (failure.kind) {
    case 'suspended':
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

/** How long a step that changed nothing, which is a bug, is kept from running again. */
export const quarantineMs = 30_000;

/**
 * The longest wait that `backoffMs` or a quarantine gives. A deadline that lies further ahead was set by another clock.
 */
export function longestWaitMs(attempts: number, failure: Failure | null, policy: RetryPolicy): number {
  return Math.max(quarantineMs, failure === null ? 0 : backoffMs(Math.max(1, attempts), failure, policy, 1));
}

/** Whether a failure uses up one of the file's attempts. Other kinds say nothing about the file. */
export function isCounted(failure: Failure): boolean {
  return failure.kind !== 'offline' && failure.kind !== 'throttled' && failure.kind !== 'suspended';
}
