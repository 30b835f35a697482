import type { Pace } from './estimate.ts';
import { backoffMs } from './file/backoff.ts';
import type { RetryPolicy } from './file/backoff.ts';
import { failureOfMachine, failureOfThrown } from './file/failure.ts';
import type { FileEvent, MachinePolicy } from './file/machine.ts';
import type { Budget, Clock } from './file/ports.ts';
import { isTakenOver } from './file/rows.ts';
import { judgedService } from './judged-service.ts';
import { createBreaker } from './pause.ts';
import type { Breaker } from './pause.ts';
import type { Pause } from './events.ts';
import { createRetries } from './rounds/retries.ts';
import type { Retries } from './rounds/retries.ts';
import { createRounds } from './rounds/rounds.ts';
import type { Rounds, RoundSettings, RoundsWorld } from './rounds/rounds.ts';
import { createLanes } from './steps/lanes.ts';
import type { Lanes } from './steps/lanes.ts';
import { createRunner } from './steps/runner.ts';
import type { Applied, Runner } from './steps/runner.ts';
import { createSteps } from './steps/steps.ts';
import { createUnconfirmedCreates } from './steps/unconfirmed-creates.ts';
import type { UnconfirmedCreates } from './steps/unconfirmed-creates.ts';
import { createUploads } from './steps/uploads.ts';
import type { LiveUpload, Uploads } from './steps/uploads.ts';
import { createUploadHosts } from './upload-hosts.ts';
import type { UploadHosts } from './upload-hosts.ts';
import { createWakeUp } from './wake-up.ts';

/** What a reload may change. */
export interface ConductorSettings extends RoundSettings {
  /** Uploads at the same time, from 1. */
  readonly uploads: number;
}

type Own = 'runner' | 'settings' | 'failed' | 'broke' | 'wake';

export interface ConductorWorld extends Omit<RoundsWorld, Own> {
  readonly budget: Budget;
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
  /** Why everything waits, or all uploads to a host, or null. */
  pause(): Pause | null;
  /** Why it takes long to hear that a video is ready, or null. */
  pollTrouble(): string | null;
  /** Until when (epoch milliseconds) no file gets a record, because too many create requests had no usable answer; or null. */
  createsWaitUntil(): number | null;
  /** Asks the service at once whether the reason of a pause is gone. */
  probeNow(): void;
  /** Somebody says that videos have changed: the service is asked soon, at most once a second. */
  ring(): void;
  /** Tries again to delete or move a local file that waits or was kept. Null: somebody else holds its row. */
  putAwayAgain(id: string): Promise<boolean | null>;
  /** Work beside it broke: when the machine is at its limits, everything waits. */
  broke(work: string, error: unknown): void;
  /** A watched folder can be trusted (again): what waited for it goes on. */
  folderBack(folder: string): void;
  uploads(): readonly LiveUpload[];
  /** How fast it goes, as measured; null what is not known yet. */
  pace(): Pick<Pace, 'bytesPerSecond' | 'processingMs'>;
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
 * Moves every file on, in one loop: releases what has waited, fills the lanes, starts the rounds. While the service is away it
 * only probes.
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
  readonly #wakeUp = createWakeUp();
  readonly #uploads: Uploads;
  readonly #breaker: Breaker;
  readonly #uploadHosts: UploadHosts;
  readonly #unconfirmed: UnconfirmedCreates;
  readonly #runner: Runner;
  readonly #lanes: Lanes;
  readonly #retries: Retries;
  readonly #rounds: Rounds;
  #settings: ConductorSettings;
  #turnedAt: number;
  #running: Promise<void> = Promise.resolve();

  constructor(world: ConductorWorld, initial: ConductorSettings) {
    const { clock } = world;
    this.#world = world;
    this.#settings = initial;
    this.#turnedAt = clock.elapsed();
    this.#uploads = createUploads(clock);
    this.#breaker = createBreaker(world);
    this.#uploadHosts = createUploadHosts({ ...world, isBack: () => this.#release() });
    const service = judgedService(world, {
      breaker: this.#breaker,
      uploadHosts: this.#uploadHosts,
      stopping: this.#stopping.signal,
    });
    this.#unconfirmed = createUnconfirmedCreates(world);
    this.#runner = createRunner({
      ...world,
      steps: createSteps(
        { ...world, host: service.host, unconfirmed: this.#unconfirmed, uploads: this.#uploads },
        this.#stopping.signal,
      ),
      policy: policyOf(clock, () => this.#settings.retry),
      ended: (facts, failure) => {
        if (facts.uploadedAt !== null && facts.end !== null) this.#rounds.fell(facts.id);
        if (failure === null) this.#breaker.succeeded();
        // What a host had a part in was judged already.
        else if (failure.kind === 'suspended') this.#breaker.failed(failure);
      },
      stuck: (id, error) => this.#stuck(id, error),
    });
    this.#lanes = createLanes({
      ...world,
      runner: this.#runner,
      uploads: initial.uploads,
      mayCreate: () => this.#unconfirmed.mayRisk(),
      mayUpload: (facts) => this.#uploadHosts.admit(facts),
      onEnd: (id, wasOurs) => {
        this.#uploads.ended(id);
        this.#uploadHosts.ended(id);
        // Else it would be tried again at once, and keep a processor busy until the other worker is done.
        if (wasOurs) this.wake();
      },
    });
    this.#retries = createRetries({
      ...world,
      release: async (id) => {
        await this.#runner.apply(id, { type: 'GO' });
        this.#turn();
      },
      retry: () => this.#settings.retry,
    });
    this.#rounds = createRounds({
      ...world,
      ...service,
      runner: this.#runner,
      settings: () => this.#settings,
      failed: (failure, signal) => this.#breaker.judge(failure, signal),
      broke: (round, error) => this.broke(round, error),
      wake: () => this.wake(),
    });
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

  async #tick(): Promise<void> {
    const { signal } = this.#stopping;
    await this.#retries.run();
    this.#rounds.startLocal(signal);
    if (this.#breaker.pause() !== null) {
      if (this.#breaker.isProbeDue()) this.#rounds.start('probe', () => this.#probe());
      return;
    }
    await this.#lanes.pump();
    this.#uploadHosts.tidy();
    this.#rounds.startRemote(signal);
  }

  async #probe(): Promise<void> {
    if (await this.#breaker.probe(this.#stopping.signal)) this.#release();
  }

  /** What waited for a host need not wait for its own backoff once the host is back. */
  #release(): void {
    this.#retries.serviceBack();
    this.wake();
  }

  #turn(): void {
    this.#turnedAt = this.#world.clock.elapsed();
  }

  #stuck(id: string, error: unknown): void {
    this.#world.logger.error('The result of a step cannot be written to the ledger', { file: id, err: error });
    this.#breaker.failed({ ...failureOfThrown(error), kind: 'suspended' });
  }

  start(): void {
    this.#running = this.#loop();
  }

  async stop(hurry: AbortSignal): Promise<void> {
    this.#lanes.close();
    this.#stopping.abort();
    this.wake();
    await this.#running;
    await Promise.race([this.#lanes.drained(), aborted(hurry)]);
    await this.#runner.abort();
    await this.#rounds.finished();
  }

  change(settings: ConductorSettings): void {
    this.#settings = settings;
    this.#lanes.setConcurrency(settings.uploads);
    this.wake();
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
    // A folder that is emptied brings thousands of events that change nothing.
    if (applied !== 'applied') return applied;
    if (event.type === 'FILE_CHANGED') this.#rounds.fell(id);
    this.wake();
    return applied;
  }

  probeNow(): void {
    this.#breaker.probeNow();
    this.#uploadHosts.tryNow();
    this.#release();
  }

  async putAwayAgain(id: string): Promise<boolean | null> {
    const isTried = await this.#rounds.putAwayAgain(id);
    this.wake();
    return isTried;
  }

  ring(): void {
    this.#rounds.ring();
    this.wake();
  }

  folderBack(folder: string): void {
    this.#retries.folderBack(folder);
    this.wake();
  }

  broke(work: string, error: unknown): void {
    const failure = failureOfMachine(error);
    if (isTakenOver(error)) this.#world.logger.warn('Another worker has the file now', { work, err: error });
    else if (failure === null) this.#world.logger.error('A background task failed', { work, err: error });
    else this.#breaker.failed(failure);
  }

  turnedAt(): number {
    return this.#turnedAt;
  }

  pause(): Pause | null {
    return this.#breaker.pause() ?? this.#uploadHosts.pause();
  }

  pollTrouble(): string | null {
    return this.#rounds.pollTrouble();
  }

  createsWaitUntil(): number | null {
    return this.#unconfirmed.waitUntil();
  }

  uploads(): readonly LiveUpload[] {
    return this.#uploads.list();
  }

  pace(): Pick<Pace, 'bytesPerSecond' | 'processingMs'> {
    return { bytesPerSecond: this.#uploads.bytesPerSecond(), processingMs: this.#rounds.processingMs() };
  }

  async isIdle(): Promise<boolean> {
    const { store } = this.#world;
    if (this.#lanes.size() > 0 || !this.#rounds.isPutAwayUpToDate()) return false;
    // One look at all of them: a file that moves from one state to another must not be missed in between.
    if ((await store.count(...unfinished)) > 0) return false;
    return (await store.toDispose(1)).length === 0 && (await store.toAmend(1)).length === 0;
  }
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

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
