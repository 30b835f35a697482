import type { Events, Pause } from './events.ts';
import { suspensionProbeMs } from './file/backoff.ts';
import type { Failure } from './file/failure.ts';
import type { Clock, VideoLibrary } from './file/ports.ts';
import { isLedgerFailure } from './file/store-errors.ts';

/** The circuit breaker around everything that works with the service: it opens when nothing can succeed, and probes until it may close. */
export interface Breaker {
  /** Why everything waits, or null. */
  pause(): Pause | null;
  /** A step or a round failed. `of` names the file or the work: one that fails alone is no outage. */
  failed(of: string, failure: Failure): void;
  /** A step succeeded. */
  succeeded(): void;
  /** The ledger could be written to. */
  wrote(): void;
  /** The next probe is due at once. */
  probeNow(): void;
  isProbeDue(): boolean;
  /** Asks the service with a harmless request (docs/decisions/0005). @returns whether everything may go on */
  probe(signal: AbortSignal): Promise<boolean>;
}

/** @param world.library asked for one page of videos by a probe */
export function createBreaker(world: {
  readonly library: Pick<VideoLibrary, 'list'>;
  readonly clock: Clock;
  readonly events: Events;
}): Breaker {
  const { library, clock, events } = world;
  let state: BreakerState = closed;
  return {
    pause: () => state.pause,
    failed: (of, failure) => {
      const was = state.pause;
      state = afterFailure(state, of, failure, clock.now());
      if (was === null && state.pause !== null) events.emit({ type: 'paused', pause: state.pause });
    },
    succeeded: () => {
      state = afterSuccess(state);
    },
    wrote: () => {
      state = afterWrite(state, clock.now());
    },
    probeNow: () => {
      if (state.pause !== null) state = { ...state, pause: { ...state.pause, nextProbeAt: 0 } };
    },
    isProbeDue: () => {
      const dueAt = state.pause?.nextProbeAt ?? Infinity;
      // One that lies further ahead than any wait is long was set before the clock was set back.
      return dueAt <= clock.now() || dueAt > clock.now() + longestProbeWaitMs;
    },
    probe: async (signal) => {
      const { pause } = state;
      if (pause === null) return false;
      const answer = await library.list(1, signal);
      if (signal.aborted) return false;
      if (!answer.ok && answer.failure.kind !== 'throttled') {
        state = afterProbe(pause, answer.failure, clock.now());
        return false;
      }
      state = afterRelease(pause);
      events.emit({ type: 'resumed', pause });
      return true;
    },
  };
}

const longestProbeWaitMs = 3_600_000;

/** What the breaker remembers: the pause if it is open, else the failures in a row. */
export interface BreakerState {
  readonly pause: Pause | null;
  /** Files whose last steps failed in a row with a failure of the service, without a success between them. */
  readonly streak: readonly string[];
  /** Probes so far, if no file has had a success since the last pause: one that comes back at once is probed less often. */
  readonly probes: number;
}

export const closed: BreakerState = { pause: null, streak: [], probes: 0 };

/** Code of the failure 'the watched folder is missing': it holds back that folder's files, not everything. */
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
  if (pause === null || !isLedgerFailure(pause.code)) return state;
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
