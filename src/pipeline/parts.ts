import { backoffMs } from './file/backoff.ts';
import type { RetryPolicy } from './file/backoff.ts';
import { failureOfThrown } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { Facts } from './file/facts.ts';
import type { MachinePolicy } from './file/machine.ts';
import type { Budget, Clock, Elsewhere, PauseStore, QueueStore, VideoHost } from './file/ports.ts';
import { judgedService } from './judged-service.ts';
import type { Loop } from './loop.ts';
import { createOperatorPauses } from './operator-pauses.ts';
import type { OperatorPauses } from './operator-pauses.ts';
import { createBreaker } from './pause.ts';
import type { Breaker } from './pause.ts';
import { createRetries } from './rounds/retries.ts';
import type { Retries } from './rounds/retries.ts';
import { createRounds } from './rounds/rounds.ts';
import type { Rounds, RoundSettings, RoundsWorld } from './rounds/rounds.ts';
import type { Turn } from './rounds/turn.ts';
import { createLanes } from './steps/lanes.ts';
import type { Lanes } from './steps/lanes.ts';
import { createRunner } from './steps/runner.ts';
import type { Runner } from './steps/runner.ts';
import type { Limits } from './steps/slots.ts';
import type { RecordedStore } from './steps/bury.ts';
import { createSteps } from './steps/steps.ts';
import { createUnconfirmedCreates } from './steps/unconfirmed-creates.ts';
import type { UnconfirmedCreates } from './steps/unconfirmed-creates.ts';
import { createUploads } from './steps/uploads.ts';
import type { Uploads } from './steps/uploads.ts';
import { createServiceNames } from './service-names.ts';
import type { ServiceNames } from './service-names.ts';
import { createUploadHosts } from './upload-hosts.ts';
import type { UploadHosts } from './upload-hosts.ts';

/** What a reload may change. */
export interface ConductorSettings extends RoundSettings, Limits {}

type Own = 'runner' | 'settings' | 'failed' | 'broke' | 'wake' | 'ringAt' | 'filesPerHour';

export interface ConductorWorld extends Omit<RoundsWorld, Own> {
  readonly store: RoundsWorld['store'] & QueueStore & PauseStore & RecordedStore;
  readonly budget: Budget;
  /** When uploads may start again by the time of day (epoch milliseconds); null: they may now. */
  uploadsStartAt(): number | null;
  /** Whether nothing in a folder may be touched: another dropcast has it, or its file system does not answer. */
  isOffLimits(folder: string): boolean;
  /** Whether this host may take up anything; false while a person drains it. */
  mayTake(): boolean;
  /** Whether this host does what only one may do. */
  readonly turn: Turn;
  /** Null: no other host has these rows. */
  readonly elsewhere: Elsewhere | null;
  /** A token for a create request that was never used before. */
  newToken(): string;
}

/** Everything that moves files on. */
export interface Parts {
  /** The service, with a verdict on each failure. */
  readonly host: VideoHost;
  readonly uploads: Uploads;
  readonly pauses: OperatorPauses;
  readonly breaker: Breaker;
  readonly names: ServiceNames;
  readonly uploadHosts: UploadHosts;
  readonly unconfirmed: UnconfirmedCreates;
  readonly runner: Runner;
  readonly lanes: Lanes;
  readonly retries: Retries;
  readonly rounds: Rounds;
}

export interface PartsContext {
  readonly loop: Loop;
  /** Fires when the daemon is asked to stop. */
  readonly stopping: AbortSignal;
  /** As they now are. */
  settings(): ConductorSettings;
  /** A round broke. */
  broke(round: string, error: unknown): void;
  /** An upload host that was away is back. */
  hostBack(): void;
}

/** Builds the parts and wires them so that each learns what the others find. */
export function createParts(world: ConductorWorld, context: PartsContext): Parts {
  const { loop, settings, stopping } = context;
  const retry = (): RetryPolicy => settings().retry;
  const uploads = createUploads(world.clock);
  const pauses = createOperatorPauses({ ...world, ended: () => loop.wake() });
  const breaker = createBreaker(world);
  const uploadHosts = createUploadHosts({
    ...world,
    isBack: context.hostBack,
    ringAt: (host, at) => loop.ringAt(`upload host ${host}`, at),
  });
  const names = createServiceNames({
    ...world,
    back: context.hostBack,
    ringAt: (at) => loop.ringAt('names', at),
  });
  const service = judgedService(world, { breaker, uploadHosts, names, stopping });
  const unconfirmed = createUnconfirmedCreates(world);

  const ended = (facts: Facts, failure: Failure | null): void => {
    if (facts.uploadedAt !== null && facts.end !== null) rounds.fell(facts.id);
    if (facts.notBefore !== null) retries.waits(facts.notBefore);
    if (failure === null) breaker.succeeded();
    // Failures that involve a host were already classified.
    else if (failure.kind === 'suspended') breaker.failed(failure);
  };

  const runner = createRunner({
    ...world,
    steps: createSteps({ ...world, host: service.host, names, unconfirmed, uploads, uploadHosts }, stopping),
    policy: policyOf(world.clock, retry),
    ended,
    stuck: (id, error) => {
      world.logger.error('The result of a step cannot be written to the ledger', { file: id, err: error });
      breaker.failed({ ...failureOfThrown(error), kind: 'suspended' });
    },
  });
  const lanes = createLanes(
    {
      ...world,
      runner,
      mayCreate: async () => uploadHosts.mayCreate() && (await unconfirmed.mayRisk()),
      isPaused: (folder) => pauses.holds(folder) !== null,
      uploadHosts,
      onEnd: (id, wasOurs) => {
        uploads.ended(id);
        uploadHosts.ended(id);
        // Else it would be tried again at once, and keep a processor busy until the other worker is done.
        if (wasOurs) loop.wake();
      },
    },
    settings(),
  );
  const retries = createRetries({
    ...world,
    release: async (id) => {
      await runner.apply(id, { type: 'GO' });
      loop.progressed();
    },
    retry,
    ringAt: (at) => loop.ringAt('retries', at),
  });
  const rounds = createRounds({
    ...world,
    ...service,
    runner: {
      apply: async (id, event) => {
        const applied = await runner.apply(id, event);
        // What is ready can be published, what is published can be put away.
        if (applied === 'applied') loop.wake();
        return applied;
      },
    },
    settings,
    filesPerHour: () => uploads.filesPerHour(),
    failed: (failure, signal) => breaker.judge(failure, signal),
    broke: context.broke,
    wake: () => loop.wake(),
    ringAt: (name, at) => loop.ringAt(name, at),
  });
  return {
    host: service.host,
    uploads,
    pauses,
    breaker,
    names,
    uploadHosts,
    unconfirmed,
    runner,
    lanes,
    retries,
    rounds,
  };
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
