import { createAftercare } from './rounds/aftercare.ts';
import type { AftercareStore } from './rounds/aftercare.ts';
import { createAlarm, createJobs } from './alarm.ts';
import { backoffMs } from './file/backoff.ts';
import type { RetryPolicy } from './file/backoff.ts';
import { afterFailure, afterProbe, afterRelease, afterSuccess, afterWrite, closed, folderAway } from './pause.ts';
import type { BreakerState, Pause } from './pause.ts';
import { rememberingHashes } from './steps/duplicates.ts';
import type { Facts } from './file/facts.ts';
import { failureOfMachine, failureOfThrown, isMereWait } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { FileEvent } from './file/machine.ts';
import { createLanes } from './steps/lanes.ts';
import { createPublisher } from './rounds/publish.ts';
import type {
  Budget,
  Clock,
  FileStore,
  LocalFiles,
  PublishStore,
  Receipts,
  VideoHost,
  VideoLibrary,
} from './file/ports.ts';
import { createRunner } from './steps/runner.ts';
import type { Applied, Runner } from './steps/runner.ts';
import { createSweeper } from './rounds/sweeper.ts';
import type { Logger } from '../log/logger.ts';

export interface ConductorSettings {
  readonly uploads: number;
  readonly retry: RetryPolicy;
  readonly poll: { readonly intervalMs: number; readonly giveUpAfterMs: number };
  readonly publish: { readonly quietMs: number; readonly atMostMs: number };
  readonly requestsPerHour: number;
}

export interface ConductorWorld {
  readonly store: FileStore & PublishStore & AftercareStore;
  readonly host: VideoHost;
  readonly library: VideoLibrary;
  readonly local: LocalFiles;
  readonly budget: Budget;
  readonly receipts: Receipts;
  readonly clock: Clock;
  readonly logger: Logger;
  newToken(): string;
  /** One line of the failure log. */
  recordFailure(facts: Facts, failure: Failure, next: string): Promise<void>;
}

/** An upload under way. */
export interface LiveUpload {
  readonly id: string;
  readonly sentBytes: number;
  readonly startedAt: number;
}

export interface Conductor {
  readonly runner: Runner;
  start(): void;
  /** Something changed: look now instead of at the next tick. */
  wake(): void;
  /** A file was taken in or moved on: the ledger can be written to (again). */
  tookIn(): void;
  apply(id: string, event: FileEvent): Promise<Applied>;
  /**
   * When it last got on, by the monotonic clock: it turns at the end of each tick, at least every second, and with every row that a
   * long tick has moved. Only one that hangs, or breaks each time for a reason of its own, no longer turns.
   */
  turnedAt(): number;
  /** Why everything waits, or null. */
  pause(): Pause | null;
  /** Asks the service at once whether the reason of a pause is gone. */
  probeNow(): void;
  /** Somebody says that videos have changed: the service is asked soon, at most once a second. */
  ring(): void;
  /** Work beside it broke: when the machine is at its limits, everything waits. */
  broke(work: string, error: unknown): void;
  /** A watched folder can be trusted (again): what waited for it goes on. */
  folderBack(folder: string): void;
  uploads(): readonly LiveUpload[];
  /** True when nothing is left to do with any file but those that ended. */
  isIdle(): Promise<boolean>;
  change(settings: ConductorSettings): void;
  /** Refuses new work, lets what runs finish until the signal fires, then cuts it. Ends with all facts written. */
  stop(hurry: AbortSignal): Promise<void>;
}

/** The longest the conductor sleeps: deadlines in the ledger are kept to this. */
const tickMs = 1_000;

/** The longest wait that is ever asked for by the other side, or by a suspension (service/retry-after.ts). */
const longestAskedMs = 3_600_000;

const unfinished = ['queued', 'awaiting upload', 'processing', 'awaiting publish', 'retrying'] as const;

/** In-doubt create requests of one hour after which no further one is tried: each may leave a record without bytes. */
const mostDoubtsPerHour = 20;

/** Moves every file on: it releases backoffs, fills the lanes, sweeps, publishes, and stops all of it while the service is away. */
export function createConductor(world: ConductorWorld, initial: ConductorSettings): Conductor {
  const { store, clock, logger } = world;
  const stopping = new AbortController();
  const { signal } = stopping;
  const progress = new Map<string, LiveUpload>();
  const doubts: number[] = [];
  let settings = initial;
  let breaker: BreakerState = closed;

  const note = (id: string, failure: Failure): void => {
    const was = breaker.pause;
    breaker = afterFailure(breaker, id, failure, clock.now());
    if (was === null && breaker.pause !== null) {
      logger.warn('Everything waits', { kind: breaker.pause.kind, why: breaker.pause.why, code: breaker.pause.code });
    }
  };

  /** Work of our own broke: a mistake of ours, unless the machine is at its limits. @returns whether it is */
  const broke = (work: string, error: unknown): boolean => {
    const failure = failureOfMachine(error);
    if (failure === null) logger.error('Work of our own broke', { work, err: error });
    else note(work, failure);
    return failure !== null;
  };

  let turnedAt = clock.elapsed();
  const turn = (): void => {
    turnedAt = clock.elapsed();
  };

  const release = async ({ id }: Facts): Promise<void> => {
    await runner.apply(id, { type: 'GO' });
    turn();
  };

  const mayDoubt = (): boolean => {
    while (doubts.length > 0 && (doubts[0] ?? 0) < clock.elapsed() - 3_600_000) doubts.shift();
    return doubts.length < mostDoubtsPerHour;
  };

  const runner = createRunner({
    ...world,
    local: { ...world.local, hash: rememberingHashes(world.local.hash) },
    // Nobody waits an hour for the budget while the daemon is asked to stop.
    budget: { take: (lane, signal) => world.budget.take(lane, AbortSignal.any([signal, stopping.signal])) },
    policy: {
      get attempts() {
        return settings.retry.attempts;
      },
      retryAt: (attempts, failure) => clock.now() + backoffMs(attempts, failure, settings.retry, Math.random()),
      now: () => clock.now(),
      unexpected: (event, facts) => logger.warn('An event means nothing in this state', { file: facts.id, event }),
    },
    mayDoubt,
    noteDoubt: () => {
      doubts.push(clock.elapsed());
      if (!mayDoubt())
        logger.warn('Create requests wait: too many had no usable answer', { inLastHour: doubts.length });
    },
    onProgress: (facts, sentBytes) => {
      const startedAt = progress.get(facts.id)?.startedAt ?? clock.elapsed();
      progress.set(facts.id, { id: facts.id, sentBytes, startedAt });
    },
    failed: async (facts, failure) => {
      if (isMereWait(failure)) return;
      note(facts.id, failure);
      await world.recordFailure(facts, failure, nextStep(facts));
    },
    succeeded: () => {
      breaker = afterSuccess(breaker);
    },
    stuck: (id, error) => {
      logger.error('What became of a step cannot be written down', { file: id, err: error });
      note(id, { ...failureOfThrown(error), kind: 'suspended' });
    },
  });

  const jobs = createJobs(clock, broke);
  const wakeUp = createAlarm();
  const lanes = createLanes({
    store,
    runner,
    clock,
    uploads: settings.uploads,
    mayCreate: mayDoubt,
    onEnd: (id) => {
      progress.delete(id);
      wakeUp.ring();
    },
  });
  const publisher = createPublisher({
    store,
    library: world.library,
    runner,
    clock,
    timing: () => ({ ...settings.publish, retry: settings.retry }),
  });

  const aftercare = createAftercare({ ...world, runner, retry: () => settings.retry });

  const releaseRetries = async (now: number): Promise<void> => {
    for (const facts of await store.due('retrying', now, 500)) await release(facts);
  };

  const releaseEach = async (isReleased: (facts: Facts) => boolean): Promise<void> => {
    const rows = await store.due('retrying', Number.MAX_SAFE_INTEGER, 10_000);
    for (const facts of rows) if (isReleased(facts)) await release(facts);
  };

  /** What waited for the service alone need not wait for its own backoff once the service is back. */
  const waitedForService = ({ lastFailure }: Facts): boolean =>
    lastFailure?.kind === 'offline' || lastFailure?.kind === 'suspended';

  const foldersBack = new Set<string>();
  const releaseFolders = async (): Promise<void> => {
    if (foldersBack.size === 0) return;
    const back = new Set(foldersBack);
    await releaseEach(({ folder, lastFailure }) => back.has(folder) && lastFailure?.code === folderAway);
    for (const folder of back) foldersBack.delete(folder);
  };

  let clockOffset = Infinity;
  /** Deadlines are on the wall clock: when it was set back, or at a start, some may lie further ahead than any wait is long. */
  const releaseTooFar = async (now: number): Promise<void> => {
    const before = clockOffset;
    clockOffset = now - clock.elapsed();
    if (clockOffset >= before - tickMs) return;
    const longestMs = Math.max(settings.retry.maxMs, longestAskedMs);
    await releaseEach(({ notBefore }) => (notBefore ?? 0) > now + longestMs);
  };

  const probe = async (pause: Pause): Promise<void> => {
    const answer = await world.library.list(1, stopping.signal);
    if (stopping.signal.aborted) return;
    if (!answer.ok && answer.failure.kind !== 'throttled') {
      breaker = afterProbe(pause, answer.failure, clock.now());
      return;
    }
    breaker = afterRelease(pause);
    logger.info('Going on', { after: pause.why });
    await releaseEach(waitedForService);
    wakeUp.ring();
  };

  /** A restart is how a new key is taken over, when it is a credential of systemd: nobody waits five minutes for it. */
  let areReleasedAtStart = false;
  const releaseAtStart = async (): Promise<void> => {
    if (areReleasedAtStart) return;
    // A folder that was away says itself when it is back.
    await releaseEach((facts) => waitedForService(facts) && facts.lastFailure?.code !== folderAway);
    areReleasedAtStart = true;
  };

  let publishAt = 0;
  const publish = async (): Promise<void> => {
    for (const failure of await publisher.run(signal)) {
      logger.warn('A feed was not published', { failure });
      note('publish', failure);
    }
  };

  const sweeper = createSweeper({ ...world, runner, settings: () => settings, note });
  const tick = async (): Promise<void> => {
    const now = clock.now();
    await releaseAtStart();
    await releaseTooFar(now);
    await releaseRetries(now);
    await releaseFolders();
    jobs.start('dispose', async () => {
      if ((await aftercare.dispose(signal)) > 0) wakeUp.ring();
    });
    const { pause } = breaker;
    if (pause !== null) {
      if (pause.nextProbeAt <= now || pause.nextProbeAt > now + 3_600_000) jobs.start('probe', () => probe(pause));
      return;
    }
    await lanes.pump();
    jobs.start('sweep', () => sweeper.sweep(signal));
    if (clock.elapsed() >= publishAt) {
      // Not at each wake: in a bulk these are many a second, and every look reads all files that wait.
      publishAt = clock.elapsed() + tickMs;
      jobs.start('publish', publish);
    }
    jobs.start('amend', () => aftercare.amend(signal));
  };

  let loop: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      // A full disk is waited for, not restarted for.
      await tick().then(turn, (error: unknown) => {
        if (broke('tick', error)) turn();
      });
      await wakeUp.wait(tickMs);
    }
  };

  return {
    runner,
    start: () => {
      loop = run();
    },
    wake: wakeUp.ring,
    tookIn: () => {
      breaker = afterWrite(breaker, clock.now());
      wakeUp.ring();
    },
    apply: async (id, event) => {
      const applied = await runner.apply(id, event);
      wakeUp.ring();
      return applied;
    },
    turnedAt: () => turnedAt,
    pause: () => breaker.pause,
    probeNow: () => {
      if (breaker.pause !== null) breaker = { ...breaker, pause: { ...breaker.pause, nextProbeAt: 0 } };
      wakeUp.ring();
    },
    ring: () => {
      sweeper.ring();
      wakeUp.ring();
    },
    broke,
    folderBack: (folder) => {
      foldersBack.add(folder);
      wakeUp.ring();
    },
    uploads: () => [...progress.values()],
    isIdle: async () => {
      if (lanes.size() > 0) return false;
      // One look at all of them: a file that moves from one state to another must not be missed in between.
      if ((await store.count(...unfinished)) > 0) return false;
      return (await store.toDispose(1)).length === 0 && (await store.toAmend(1)).length === 0;
    },
    change: (next) => {
      settings = next;
      lanes.setConcurrency(next.uploads);
      wakeUp.ring();
    },
    stop: async (hurry) => {
      lanes.close();
      stopping.abort();
      wakeUp.ring();
      await loop;
      await Promise.race([lanes.drained(), aborted(hurry)]);
      await runner.abort();
      await jobs.settled();
    },
  };
}

/** What happens next with a file that failed, in words for the failure log. */
function nextStep(facts: Facts): string {
  if (facts.end !== null) return facts.end;
  return facts.notBefore === null ? 'tried again' : `tried again not before ${new Date(facts.notBefore).toISOString()}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
