import type { Failure } from './file/failure.ts';
import { suspensionProbeMs } from './file/backoff.ts';

/** Why everything waits, and when the service is asked again. Times are epoch milliseconds. */
export interface Pause {
  readonly kind: 'offline' | 'suspended';
  readonly why: string;
  readonly code: string;
  readonly since: number;
  readonly probes: number;
  readonly nextProbeAt: number;
}

/** What the breaker remembers: the pause if it is open, else the failures in a row. */
export interface BreakerState {
  readonly pause: Pause | null;
  /** Files whose last steps failed in a row with a failure of the service, without a success between them. */
  readonly streak: readonly string[];
  /** Probes so far, if no file has had a success since the last pause: one that comes back at once is probed less often. */
  readonly probes: number;
}

export const closed: BreakerState = { pause: null, streak: [], probes: 0 };

/** Code of the failure 'the watched folder is away': it holds that folder's files back, not everything. */
export const folderAway = 'folder_away';

/** So many failures of the service in a row, of at least two files, are the service's, not the files'. */
const streakToOpen = 5;

/** Probes while offline: 1 s, then doubling up to a minute. */
const offlineProbeMs = { first: 1_000, most: 60_000 };

/** Pure: the breaker after a step of a file failed. An account that is refused or a network that is away opens it at once. */
export function afterFailure(state: BreakerState, file: string, failure: Failure, now: number): BreakerState {
  if (state.pause !== null || failure.code === folderAway) return state;
  if (failure.kind === 'suspended' || failure.kind === 'offline') return opened(state, failure.kind, failure, now);
  if (failure.kind !== 'transient' || !(failure.inDoubt === true || (failure.status ?? 0) >= 500)) return state;
  const streak = [...state.streak, file].slice(-streakToOpen);
  const isOutage = streak.length >= streakToOpen && new Set(streak).size >= 2;
  return isOutage ? opened(state, 'offline', failure, now) : { ...state, streak };
}

/** Pure: any success shows that the service works. */
export function afterSuccess(state: BreakerState): BreakerState {
  return state.pause === null && (state.streak.length > 0 || state.probes > 0) ? closed : state;
}

/** Pure: the breaker after a probe that the service answered. What is broken may be another part: the upload host, the ledger. */
export function afterRelease(pause: Pause): BreakerState {
  return { ...closed, probes: pause.probes + 1 };
}

/** Pure: the breaker after one more probe without success. */
export function afterProbe(pause: Pause, failure: Failure, now: number): BreakerState {
  const kind = failure.kind === 'suspended' ? 'suspended' : 'offline';
  const probes = pause.probes + 1;
  const nextProbeAt = now + Math.max(failure.retryAfterMs ?? 0, probeDelayMs(kind, probes));
  return { ...closed, pause: { ...pause, kind, why: failure.message, code: failure.code, probes, nextProbeAt } };
}

/**
 * Pure: the breaker after the ledger could be written to. If that was what everything waits for, the service is asked soon; not at
 * once, because the last bytes of a disk let one write through and refuse the next.
 */
export function afterWrite(state: BreakerState, now: number): BreakerState {
  const { pause } = state;
  if (pause === null || !pause.code.startsWith('SQLITE_')) return state;
  const soon = Math.max(now, pause.since + leastPauseMs * 2 ** Math.min(pause.probes, 5));
  return soon < pause.nextProbeAt ? { ...state, pause: { ...pause, nextProbeAt: soon } } : state;
}

/** Of a pause that ends because the ledger can be written to again. */
const leastPauseMs = 10_000;

function opened({ probes }: BreakerState, kind: Pause['kind'], failure: Failure, now: number): BreakerState {
  const { message: why, code } = failure;
  const nextProbeAt = now + probeDelayMs(kind, probes);
  return { ...closed, pause: { kind, why, code, since: now, probes, nextProbeAt } };
}

function probeDelayMs(kind: Pause['kind'], probes: number): number {
  return kind === 'suspended'
    ? suspensionProbeMs
    : Math.min(offlineProbeMs.most, offlineProbeMs.first * 2 ** Math.min(probes, 6));
}
