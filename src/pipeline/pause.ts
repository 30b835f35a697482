import type { Events, Pause } from './events.ts';
import { offlineProbeMs, suspendedMs } from './file/backoff.ts';
import { ownQuotaCode, unknownNameCodes } from './file/failure.ts';
import type { Failure, FailureKind } from './file/failure.ts';
import type { Clock, VideoLibrary } from './file/ports.ts';
import { isLedgerFailure, passesSoon } from './file/store-errors.ts';

/**
 * The circuit breaker around all work with the service. It opens when nothing can succeed, and probes until it may
 * close. Hosts that only accept uploads have their own breakers (upload-hosts.ts).
 */
export type Breaker = ReturnType<typeof createBreaker>;

/** @param world.library the service that probes query */
export function createBreaker(world: {
  readonly library: Pick<VideoLibrary, 'probe'>;
  readonly clock: Clock;
  readonly events: Events;
}) {
  const { library, clock, events } = world;
  let state: BreakerState = closed;

  const failed = (failure: Failure): void => {
    const was = state.pause;
    state = afterFailure(state, failure, clock.elapsed());
    if (was === null && state.pause !== null) events.emit({ type: 'paused', pause: onTheWall(state.pause, clock) });
  };

  /** Decides whether a request failed on its own or because the service is unreachable for every request. */
  const verdict = async (failure: Failure, signal: AbortSignal): Promise<Failure> => {
    if (!mayBeOfService.has(failure.kind)) return failure;
    if (state.pause === null && failure.kind !== 'offline') {
      const answer = await library.probe(signal);
      // An aborted request proves nothing, and a shutdown costs no attempt.
      const isAnswered = answer.ok || (answer.failure.kind === 'throttled' && !signal.aborted);
      if (isAnswered) return failure;
      // Whether the request was carried out is still unknown.
      if (answer.failure.kind === 'suspended') return { ...answer.failure, ...inDoubtOf(failure) };
    }
    return { ...failure, kind: 'offline' };
  };

  return {
    pause: (): Pause | null => state.pause && onTheWall(state.pause, clock),
    /** Records a failure. Everything waits if this machine or an account refuses, or nothing can be reached. */
    failed,
    /**
     * Judges a failed request. A harmless request immediately shows whether the service is unreachable.
     *
     * @returns the failure as classified: `offline` if the probe fails too
     */
    judge: async (failure: Failure, signal: AbortSignal): Promise<Failure> => {
      const judged = await verdict(failure, signal);
      if (!signal.aborted) failed(judged);
      return judged;
    },
    succeeded: (): void => {
      state = afterSuccess(state);
    },
    wrote: (): void => {
      state = afterWrite(state, clock.elapsed());
    },
    probeNow: (): void => {
      if (state.pause !== null) state = { ...state, pause: { ...state.pause, nextProbeAt: clock.elapsed() } };
    },
    isProbeDue: (): boolean => (state.pause?.nextProbeAt ?? Infinity) <= clock.elapsed(),
    /** Probes the service with a harmless request (docs/decisions/0022). @returns whether work may resume */
    probe: async (signal: AbortSignal): Promise<boolean> => {
      const { pause } = state;
      if (pause === null) return false;
      const answer = await library.probe(signal);
      if (signal.aborted) return false;
      if (!answer.ok && answer.failure.kind !== 'throttled') {
        state = afterProbe(pause, answer.failure, clock.elapsed());
        return false;
      }
      state = afterRelease(pause);
      events.emit({ type: 'resumed', pause: onTheWall(pause, clock) });
      return true;
    },
  };
}

/**
 * Kinds of failure that may be the service's fault. While a service behind a proxy is being replaced, the proxy may
 * answer 404 or 400 to everything; no video is gone then, and no file was refused.
 */
const mayBeOfService: ReadonlySet<FailureKind> = new Set(['offline', 'transient', 'gone', 'permanent']);

function inDoubtOf({ inDoubt }: Failure): Pick<Failure, 'inDoubt'> {
  return inDoubt === undefined ? {} : { inDoubt };
}

/** Converts the times of a pause, measured on the monotonic clock, to wall-clock time for display. */
function onTheWall(pause: Pause, clock: Clock): Pause {
  const offset = clock.now() - clock.elapsed();
  return { ...pause, since: pause.since + offset, nextProbeAt: pause.nextProbeAt + offset };
}

/** The state of the breaker. All times are on the monotonic clock. */
export interface BreakerState {
  readonly pause: Pause | null;
  /**
   * Number of probes so far, reset when a file succeeds after a pause. A pause that soon returns is therefore probed
   * less often.
   */
  readonly probes: number;
}

export const closed: BreakerState = { pause: null, probes: 0 };

/** Code for 'the watched folder is missing'. Holds back that folder's files, not everything. */
export const folderAway = 'folder_away';

/** Codes of failures that hold back only a group of files: those of one folder, channel or feed. */
const holdsBackSome: ReadonlySet<string> = new Set([folderAway, ownQuotaCode, ...Object.values(unknownNameCodes)]);

/**
 * Returns the breaker's state after a failure. A refused account or an unreachable network opens the breaker
 * immediately. Pure.
 */
export function afterFailure(state: BreakerState, failure: Failure, now: number): BreakerState {
  if (state.pause !== null || failure.account !== undefined || holdsBackSome.has(failure.code)) return state;
  const { kind } = failure;
  return kind === 'suspended' || kind === 'offline' ? opened(state, kind, failure, now) : state;
}

/** Returns the breaker's state after any success, which shows that the service works. Pure. */
export function afterSuccess(state: BreakerState): BreakerState {
  return state.pause === null ? closed : state;
}

/**
 * Returns the breaker's state after a probe that the service answered. Another part, such as the upload host or the
 * ledger, may still be broken. Pure.
 */
export function afterRelease(pause: Pause): BreakerState {
  return { ...closed, probes: pause.probes + 1 };
}

export function afterProbe(pause: Pause, failure: Failure, now: number): BreakerState {
  const kind = failure.kind === 'suspended' ? 'suspended' : 'offline';
  const probes = pause.probes + 1;
  const nextProbeAt = now + Math.max(failure.retryAfterMs ?? 0, probeDelayMs({ kind, code: failure.code }, probes));
  return { ...closed, pause: { ...pause, kind, why: failure.message, code: failure.code, probes, nextProbeAt } };
}

/**
 * Returns the breaker's state after a successful write to the ledger. If everything was waiting for that, the service
 * is probed soon, but not immediately: the last free bytes of a disk let one write pass and refuse the next. Pure.
 */
export function afterWrite(state: BreakerState, now: number): BreakerState {
  const { pause } = state;
  if (pause === null || !isLedgerFailure(pause.code)) return state;
  const soon = Math.max(now, pause.since + leastPauseMs * 2 ** Math.min(pause.probes, 5));
  return soon < pause.nextProbeAt ? { ...state, pause: { ...pause, nextProbeAt: soon } } : state;
}

/** Minimum length of a pause that ends because the ledger is writable again. */
const leastPauseMs = 10_000;

function opened({ probes }: BreakerState, kind: Pause['kind'], failure: Failure, now: number): BreakerState {
  const { message: why, code } = failure;
  const nextProbeAt = now + probeDelayMs({ kind, code }, probes);
  return { ...closed, pause: { kind, holds: 'everything', why, code, since: now, probes, nextProbeAt } };
}

function probeDelayMs({ kind, code }: Pick<Pause, 'kind' | 'code'>, probes: number): number {
  return kind === 'suspended' && !passesSoon(code) ? suspendedMs(code) : offlineProbeMs(probes);
}
