import type { Events, Pause } from './events.ts';
import { offlineProbeMs, suspendedMs } from './file/backoff.ts';
import { unknownNameCodes } from './file/failure.ts';
import type { Failure, FailureKind } from './file/failure.ts';
import type { Clock, VideoLibrary } from './file/ports.ts';
import { isLedgerFailure, passesSoon } from './file/store-errors.ts';

/**
 * The circuit breaker around everything that works with the service: it opens when nothing can succeed, and probes
 * until it may close. Hosts that only take uploads have their own (upload-hosts.ts).
 */
export type Breaker = ReturnType<typeof createBreaker>;

/** @param world.library the service that a probe asks */
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

  /** A request may fail on its own, or because the service is away and answers nothing else either. */
  const verdict = async (failure: Failure, signal: AbortSignal): Promise<Failure> => {
    if (!mayBeOfService.has(failure.kind)) return failure;
    if (state.pause === null && failure.kind !== 'offline') {
      const answer = await library.probe(signal);
      // A request that was cut proves nothing, and a stop costs no attempt.
      const isAnswered = answer.ok || (answer.failure.kind === 'throttled' && !signal.aborted);
      if (isAnswered) return failure;
      // It is still open whether the request was carried out.
      if (answer.failure.kind === 'suspended') return { ...answer.failure, ...inDoubtOf(failure) };
    }
    return { ...failure, kind: 'offline' };
  };

  return {
    /** Why everything waits, or null. */
    pause: (): Pause | null => state.pause && onTheWall(state.pause, clock),
    /** This machine or an account refuses, or nothing can be reached, so everything waits. */
    failed,
    /**
     * Judges a failed request. A harmless request shows at once whether the service is away.
     *
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
    /** A write to the ledger succeeded. */
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

/**
 * While the service behind a proxy is replaced, the proxy may answer 404 or 400 to everything: no video is gone then,
 * and no file refused.
 */
const mayBeOfService: ReadonlySet<FailureKind> = new Set(['offline', 'transient', 'gone', 'permanent']);

function inDoubtOf({ inDoubt }: Failure): Pick<Failure, 'inDoubt'> {
  return inDoubt === undefined ? {} : { inDoubt };
}

/** A pause is measured on the monotonic clock, and displayed as wall-clock time. */
function onTheWall(pause: Pause, clock: Clock): Pause {
  const offset = clock.now() - clock.elapsed();
  return { ...pause, since: pause.since + offset, nextProbeAt: pause.nextProbeAt + offset };
}

/** The state of the breaker. All times are on the monotonic clock. */
export interface BreakerState {
  readonly pause: Pause | null;
  /** Probes so far, unless a file succeeded since the last pause: a pause that returns at once is probed less often. */
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

/** Pure: the breaker after any success, which shows that the service works. */
export function afterSuccess(state: BreakerState): BreakerState {
  return state.pause === null ? closed : state;
}

/**
 * Pure: the breaker after a probe that the service answered. Another part may be broken: the upload host, the ledger.
 */
export function afterRelease(pause: Pause): BreakerState {
  return { ...closed, probes: pause.probes + 1 };
}

/** Pure: the breaker after another unsuccessful probe. */
export function afterProbe(pause: Pause, failure: Failure, now: number): BreakerState {
  const kind = failure.kind === 'suspended' ? 'suspended' : 'offline';
  const probes = pause.probes + 1;
  const nextProbeAt = now + Math.max(failure.retryAfterMs ?? 0, probeDelayMs({ kind, code: failure.code }, probes));
  return { ...closed, pause: { ...pause, kind, why: failure.message, code: failure.code, probes, nextProbeAt } };
}

/**
 * Pure: the breaker after a successful write to the ledger. If everything waited for that, the service is probed soon.
 * It is not probed at once, because the last free bytes of a disk let one write pass and refuse the next.
 */
export function afterWrite(state: BreakerState, now: number): BreakerState {
  const { pause } = state;
  if (pause === null || !isLedgerFailure(pause.code)) return state;
  const soon = Math.max(now, pause.since + leastPauseMs * 2 ** Math.min(pause.probes, 5));
  return soon < pause.nextProbeAt ? { ...state, pause: { ...pause, nextProbeAt: soon } } : state;
}

/** The shortest pause that ends because the ledger can be written again. */
const leastPauseMs = 10_000;

function opened({ probes }: BreakerState, kind: Pause['kind'], failure: Failure, now: number): BreakerState {
  const { message: why, code } = failure;
  const nextProbeAt = now + probeDelayMs({ kind, code }, probes);
  return { ...closed, pause: { kind, holds: 'everything', why, code, since: now, probes, nextProbeAt } };
}

function probeDelayMs({ kind, code }: Pick<Pause, 'kind' | 'code'>, probes: number): number {
  return kind === 'suspended' && !passesSoon(code) ? suspendedMs(code) : offlineProbeMs(probes);
}
