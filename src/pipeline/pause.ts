import type { Events, Pause } from './events.ts';
import { offlineProbeMs, suspendedMs } from './file/backoff.ts';
import { unknownNameCodes } from './file/failure.ts';
import type { Failure, FailureKind } from './file/failure.ts';
import type { Clock, VideoLibrary } from './file/ports.ts';
import { isLedgerFailure, passesSoon } from './file/store-errors.ts';

/**
 * The circuit breaker around everything that works with the service: it opens when nothing can succeed, and probes until it may close.
 * Hosts that only take uploads have their own (upload-hosts.ts).
 */
export type Breaker = ReturnType<typeof createBreaker>;

/** @param world.library asked by a probe */
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

  /** A request may fail for its own sake, or because the service is away: then it answers nothing else either. */
  const verdict = async (failure: Failure, signal: AbortSignal): Promise<Failure> => {
    if (!mayBeOfService.has(failure.kind)) return failure;
    if (state.pause === null && failure.kind !== 'offline') {
      const answer = await library.probe(signal);
      // Cut, it proves nothing, and a stop costs no attempt.
      const isAnswered = answer.ok || (answer.failure.kind === 'throttled' && !signal.aborted);
      if (isAnswered) return failure;
      // Whether the request was carried out is as open as before.
      if (answer.failure.kind === 'suspended') return { ...answer.failure, ...inDoubtOf(failure) };
    }
    return { ...failure, kind: 'offline' };
  };

  return {
    /** Why everything waits, or null. */
    pause: (): Pause | null => state.pause && onTheWall(state.pause, clock),
    /** This machine or an account refuses, or nothing can be reached: everything waits. */
    failed,
    /**
     * A request to the service failed. A harmless request finds out at once whether the service is away.
     * @returns the failure as it counts: `offline` when the service answers nothing else either
     */
    judge: async (failure: Failure, signal: AbortSignal): Promise<Failure> => {
      const judged = await verdict(failure, signal);
      if (!signal.aborted) failed(judged);
      return judged;
    },
    /** A step succeeded. */
    succeeded: (): void => {
      state = afterSuccess(state);
    },
    /** The ledger could be written to. */
    wrote: (): void => {
      state = afterWrite(state, clock.elapsed());
    },
    /** The next probe is due at once. */
    probeNow: (): void => {
      if (state.pause !== null) state = { ...state, pause: { ...state.pause, nextProbeAt: clock.elapsed() } };
    },
    isProbeDue: (): boolean => (state.pause?.nextProbeAt ?? Infinity) <= clock.elapsed(),
    /** Asks the service with a harmless request (docs/decisions/0022). @returns whether work may resume */
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

/** A proxy may answer 404 or 400 to everything while the service behind it is replaced: no video is gone then, and no file refused. */
const mayBeOfService: ReadonlySet<FailureKind> = new Set(['offline', 'transient', 'gone', 'permanent']);

function inDoubtOf({ inDoubt }: Failure): Pick<Failure, 'inDoubt'> {
  return inDoubt === undefined ? {} : { inDoubt };
}

/** A pause is kept by the monotonic clock, which nobody sets, and told by that of the wall. */
function onTheWall(pause: Pause, clock: Clock): Pause {
  const offset = clock.now() - clock.elapsed();
  return { ...pause, since: pause.since + offset, nextProbeAt: pause.nextProbeAt + offset };
}

/** What the breaker remembers. All times are those of the monotonic clock. */
export interface BreakerState {
  readonly pause: Pause | null;
  /** Probes so far, if no file has had a success since the last pause: one that comes back at once is probed less often. */
  readonly probes: number;
}

export const closed: BreakerState = { pause: null, probes: 0 };

/** Code of the failure 'the watched folder is missing': it holds back that folder's files, not everything. */
export const folderAway = 'folder_away';

/** Codes of failures that hold back a group of files: those of a folder, of a channel, of a feed. */
const holdsBackSome: ReadonlySet<string> = new Set([folderAway, ...Object.values(unknownNameCodes)]);

/** Pure: the breaker after a failure. An account that is refused or a network that is away opens it at once. */
export function afterFailure(state: BreakerState, failure: Failure, now: number): BreakerState {
  if (state.pause !== null || holdsBackSome.has(failure.code)) return state;
  const { kind } = failure;
  return kind === 'suspended' || kind === 'offline' ? opened(state, kind, failure, now) : state;
}

/** Pure: any success shows that the service works. */
export function afterSuccess(state: BreakerState): BreakerState {
  return state.pause === null ? closed : state;
}

/** Pure: the breaker after a probe that the service answered. What is broken may be another part: the upload host, the ledger. */
export function afterRelease(pause: Pause): BreakerState {
  return { ...closed, probes: pause.probes + 1 };
}

/** Pure: the breaker after one more probe without success. */
export function afterProbe(pause: Pause, failure: Failure, now: number): BreakerState {
  const kind = failure.kind === 'suspended' ? 'suspended' : 'offline';
  const probes = pause.probes + 1;
  const nextProbeAt = now + Math.max(failure.retryAfterMs ?? 0, probeDelayMs({ kind, code: failure.code }, probes));
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
  const nextProbeAt = now + probeDelayMs({ kind, code }, probes);
  return { ...closed, pause: { kind, holds: 'everything', why, code, since: now, probes, nextProbeAt } };
}

function probeDelayMs({ kind, code }: Pick<Pause, 'kind' | 'code'>, probes: number): number {
  return kind === 'suspended' && !passesSoon(code) ? suspendedMs(code) : offlineProbeMs(probes);
}
