import { createAlarm, createJobs } from './alarm.ts';
import type { Events } from './events.ts';
import { createBreaker } from './pause.ts';
import type { Pause } from './pause.ts';
import { backoffMs } from './file/backoff.ts';
import type { RetryPolicy } from './file/backoff.ts';
import { failureOfMachine, failureOfThrown, isMereWait } from './file/failure.ts';
import type { FileEvent, MachinePolicy } from './file/machine.ts';
import type {
  AmendStore,
  Budget,
  Clock,
  FileStore,
  LocalFiles,
  PublishStore,
  PutAwayStore,
  Receipts,
  VideoHost,
  VideoLibrary,
} from './file/ports.ts';
import type { Rows } from './file/rows.ts';
import { createAmend } from './rounds/amend.ts';
import { createPublish } from './rounds/publish.ts';
import { createPutAway } from './rounds/put-away.ts';
import { createRetries } from './rounds/retries.ts';
import { createSweep } from './rounds/sweep.ts';
import { createRecord } from './steps/create.ts';
import { rememberingHashes } from './steps/duplicates.ts';
import { createLanes } from './steps/lanes.ts';
import { createRunner } from './steps/runner.ts';
import type { Applied, Runner } from './steps/runner.ts';
import { createUnconfirmedCreates } from './steps/unconfirmed-creates.ts';
import { createUploads } from './steps/uploads.ts';
import type { LiveUpload } from './steps/uploads.ts';
import { uploadFile } from './steps/upload.ts';
import type { Logger } from '../log/logger.ts';

/** What a reload may change. */
export interface ConductorSettings {
  /** Uploads at the same time, from 1. */
  readonly uploads: number;
  readonly retry: RetryPolicy;
  readonly poll: { readonly intervalMs: number; readonly giveUpAfterMs: number };
  readonly publish: { readonly quietMs: number; readonly atMostMs: number };
  readonly requestsPerHour: number;
}

export interface ConductorWorld {
  readonly store: FileStore & PublishStore & PutAwayStore & AmendStore;
  readonly rows: Rows;
  readonly host: VideoHost;
  readonly library: VideoLibrary;
  readonly local: LocalFiles;
  readonly budget: Budget;
  readonly receipts: Receipts;
  readonly events: Events;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A token for a create request that was never used before. */
  newToken(): string;
}

export interface Conductor {
  start(): void;
  /** Something changed: looks now, not at the next tick. */
  wake(): void;
  /** A file was taken in or moved on: the ledger can be written to (again). */
  tookIn(): void;
  /** Gives an event to a file that nobody works on. */
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

const unfinished = ['queued', 'awaiting upload', 'processing', 'awaiting publish', 'retrying'] as const;

/**
 * Moves every file on, in one loop: releases what has waited, fills the lanes, then the rounds (sweep, publish, put away, amend).
 * While the service is away it only probes.
 *
 * @param world the ports; `rows` is the one writer that intake and conductor share
 * @param initial settings until `change`
 */
export function createConductor(world: ConductorWorld, initial: ConductorSettings): Conductor {
  return new Loop(world, initial);
}

class Loop implements Conductor {
  readonly #world: ConductorWorld;
  readonly #stopping = new AbortController();
  readonly #wakeUp = createAlarm();
  readonly #uploads: ReturnType<typeof createUploads>;
  readonly #breaker: ReturnType<typeof createBreaker>;
  readonly #runner: Runner;
  readonly #lanes: ReturnType<typeof createLanes>;
  readonly #jobs: ReturnType<typeof createJobs>;
  readonly #rounds: ReturnType<typeof createRounds>;
  readonly #mayCreate: () => boolean;
  #settings: ConductorSettings;
  #turnedAt: number;
  #publishAt = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(world: ConductorWorld, initial: ConductorSettings) {
    const { clock } = world;
    this.#world = world;
    this.#settings = initial;
    this.#turnedAt = clock.elapsed();
    this.#uploads = createUploads(clock);
    this.#breaker = createBreaker(world);
    const unconfirmed = createUnconfirmedCreates(clock, world.logger);
    this.#mayCreate = () => unconfirmed.mayRisk();
    const parts: StepParts = { unconfirmed, uploads: this.#uploads, stopping: this.#stopping.signal };
    this.#runner = createRunner({
      ...world,
      steps: stepsOf(world, parts),
      policy: policyOf(clock, () => this.#settings.retry),
      ended: (facts, failure) => {
        if (failure === null) this.#breaker.succeeded();
        else if (!isMereWait(failure)) this.#breaker.failed(facts.id, failure);
      },
      stuck: (id, error) => this.#stuck(id, error),
    });
    this.#lanes = createLanes({
      ...world,
      runner: this.#runner,
      uploads: initial.uploads,
      mayCreate: this.#mayCreate,
      onEnd: (id) => {
        this.#uploads.ended(id);
        this.wake();
      },
    });
    this.#jobs = createJobs(clock, (job, error) => this.broke(job, error));
    this.#rounds = createRounds(world, {
      runner: this.#runner,
      settings: () => this.#settings,
      failed: (of, failure) => this.#breaker.failed(of, failure),
      released: () => this.#turn(),
    });
  }

  start(): void {
    this.#running = this.#loop();
  }

  wake(): void {
    this.#wakeUp.ring();
  }

  tookIn(): void {
    this.#breaker.wrote();
    this.wake();
  }

  async apply(id: string, event: FileEvent): Promise<Applied> {
    const applied = await this.#runner.apply(id, event);
    this.wake();
    return applied;
  }

  turnedAt(): number {
    return this.#turnedAt;
  }

  pause(): Pause | null {
    return this.#breaker.pause();
  }

  probeNow(): void {
    this.#breaker.probeNow();
    this.wake();
  }

  ring(): void {
    this.#rounds.sweep.ring();
    this.wake();
  }

  broke(work: string, error: unknown): void {
    const failure = failureOfMachine(error);
    if (failure === null) this.#world.logger.error('Work of our own broke', { work, err: error });
    else this.#breaker.failed(work, failure);
  }

  folderBack(folder: string): void {
    this.#rounds.retries.folderBack(folder);
    this.wake();
  }

  uploads(): readonly LiveUpload[] {
    return this.#uploads.list();
  }

  async isIdle(): Promise<boolean> {
    const { store } = this.#world;
    if (this.#lanes.size() > 0) return false;
    // One look at all of them: a file that moves from one state to another must not be missed in between.
    if ((await store.count(...unfinished)) > 0) return false;
    return (await store.toDispose(1)).length === 0 && (await store.toAmend(1)).length === 0;
  }

  change(settings: ConductorSettings): void {
    this.#settings = settings;
    this.#lanes.setConcurrency(settings.uploads);
    this.wake();
  }

  async stop(hurry: AbortSignal): Promise<void> {
    this.#lanes.close();
    this.#stopping.abort();
    this.wake();
    await this.#running;
    await Promise.race([this.#lanes.drained(), aborted(hurry)]);
    await this.#runner.abort();
    await this.#jobs.settled();
  }

  async #loop(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#tick();
        this.#turn();
      } catch (error) {
        this.broke('tick', error);
        // A full disk is waited for, not restarted for.
        if (failureOfMachine(error) !== null) this.#turn();
      }
      await this.#wakeUp.wait(tickMs);
    }
  }

  /** One turn: what follows is the order in which work gets its chance. */
  async #tick(): Promise<void> {
    const { signal } = this.#stopping;
    const { retries, putAway, sweep, amend } = this.#rounds;
    await retries.run();
    this.#jobs.start('put away', async () => {
      if ((await putAway.run(signal)) > 0) this.wake();
    });
    if (this.#breaker.pause() !== null) {
      if (this.#breaker.isProbeDue()) this.#jobs.start('probe', () => this.#probe());
      return;
    }
    await this.#lanes.pump();
    this.#jobs.start('sweep', () => sweep.run(signal));
    this.#publishSometimes();
    this.#jobs.start('amend', () => amend.run(signal));
  }

  /** Not at each wake: in a bulk these are many a second, and every look reads all files that wait. */
  #publishSometimes(): void {
    const now = this.#world.clock.elapsed();
    if (now < this.#publishAt) return;
    this.#publishAt = now + tickMs;
    this.#jobs.start('publish', () => this.#rounds.publish.run(this.#stopping.signal));
  }

  async #probe(): Promise<void> {
    if (!(await this.#breaker.probe(this.#stopping.signal))) return;
    await this.#rounds.retries.releaseForService();
    this.wake();
  }

  #turn(): void {
    this.#turnedAt = this.#world.clock.elapsed();
  }

  #stuck(id: string, error: unknown): void {
    this.#world.logger.error('The result of a step cannot be written to the ledger', { file: id, err: error });
    this.#breaker.failed(id, { ...failureOfThrown(error), kind: 'suspended' });
  }
}

interface StepParts {
  readonly unconfirmed: ReturnType<typeof createUnconfirmedCreates>;
  readonly uploads: ReturnType<typeof createUploads>;
  readonly stopping: AbortSignal;
}

function stepsOf(world: ConductorWorld, { unconfirmed, uploads, stopping }: StepParts) {
  const create = {
    ...world,
    unconfirmed,
    local: { ...world.local, hash: rememberingHashes(world.local.hash) },
    // Nobody waits an hour for the budget while the daemon is asked to stop.
    budget: {
      take: (priority, signal) => world.budget.take(priority, AbortSignal.any([signal, stopping])),
    } satisfies Budget,
  };
  const upload = { ...world, onProgress: uploads.progressed };
  return {
    creating: (row, signal) => createRecord(row, signal, create),
    uploading: (row, signal) => uploadFile(row, signal, upload),
  } satisfies Parameters<typeof createRunner>[0]['steps'];
}

function policyOf(clock: Clock, retry: () => RetryPolicy): MachinePolicy {
  return {
    get attempts() {
      return retry().attempts;
    },
    retryAt: (attempts, failure) => clock.now() + backoffMs(attempts, failure, retry(), Math.random()),
    now: () => clock.now(),
  };
}

interface RoundParts {
  readonly runner: Runner;
  readonly settings: () => ConductorSettings;
  readonly failed: ReturnType<typeof createBreaker>['failed'];
  /** A file that waited goes on. */
  readonly released: () => void;
}

function createRounds(world: ConductorWorld, { runner, settings, failed, released }: RoundParts) {
  const retry = (): RetryPolicy => settings().retry;
  return {
    retries: createRetries({
      ...world,
      release: async (id) => {
        await runner.apply(id, { type: 'GO' });
        released();
      },
      longestBackoffMs: () => settings().retry.maxMs,
    }),
    sweep: createSweep({ ...world, runner, settings, failed }),
    publish: createPublish({ ...world, runner, failed, timing: () => ({ ...settings().publish, retry: retry() }) }),
    putAway: createPutAway({ ...world, retry }),
    amend: createAmend({ ...world, retry }),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
