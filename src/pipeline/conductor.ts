import { backoffMs } from './file/backoff.ts';
import type { RetryPolicy } from './file/backoff.ts';
import type { Facts } from './file/facts.ts';
import { stateOf } from './file/facts.ts';
import { failureOfMachine, failureOfThrown } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { FileEvent, MachinePolicy } from './file/machine.ts';
import type { Budget, Clock, Elsewhere, PauseStore, QueueStore, Turn } from './file/ports.ts';
import { queuedOf } from './file/queue.ts';
import { isTakenOver } from './file/rows.ts';
import { judgedService } from './judged-service.ts';
import { Loop } from './loop.ts';
import { createOperatorPauses } from './operator-pauses.ts';
import { createBreaker } from './pause.ts';
import { createRetries } from './rounds/retries.ts';
import { createRounds } from './rounds/rounds.ts';
import type { RoundSettings, RoundsWorld } from './rounds/rounds.ts';
import { createServiceNames } from './service-names.ts';
import type { RecordedStore } from './steps/delete-video.ts';
import { Lanes } from './steps/lanes.ts';
import type { Limits, NoSlot } from './steps/lanes.ts';
import { createRunner } from './steps/runner.ts';
import type { Applied } from './steps/runner.ts';
import { createSteps } from './steps/steps.ts';
import { createUnconfirmedCreates } from './steps/unconfirmed-creates.ts';
import { createUploads } from './steps/uploads.ts';
import { createUploadHosts } from './upload-hosts.ts';
import { aborted } from './wake-up.ts';

/** Settings that a reload may change. */
export interface ConductorSettings extends RoundSettings, Limits {}

type Own = 'runner' | 'settings' | 'failed' | 'broke' | 'wake' | 'ringAt' | 'filesPerHour';

export interface ConductorWorld extends Omit<RoundsWorld, Own> {
  readonly store: RoundsWorld['store'] & QueueStore & PauseStore & RecordedStore;
  readonly budget: Budget;
  /** When the timetable lets uploads start again (epoch milliseconds); null: they may start now. */
  uploadsStartAt(): number | null;
  /** Whether nothing in a folder may be touched, because another dropcast has it or its file system does not answer. */
  isOffLimits(folder: string): boolean;
  /** Whether this host may take new work; false while the operator drains it. */
  mayTake(): boolean;
  /** Whether this host does the work that only one host may do. */
  readonly turn: Turn;
  /** Null: no other host shares these rows. */
  readonly elsewhere: Elsewhere | null;
  /** A new token for a create request, never used before. */
  newToken(): string;
}

export type Conductor = ReturnType<typeof createConductor>;

/**
 * Moves every file on, in one loop: it releases files whose wait has ended, fills the lanes and starts the rounds.
 * While the service is away it only probes.
 *
 * @param world the ports; `rows` is the one writer that intake and conductor share
 * @param initial settings until `change`
 */
export function createConductor(world: ConductorWorld, initial: ConductorSettings) {
  const { clock, logger } = world;
  let settings = initial;
  const stopping = new AbortController();
  const { signal } = stopping;

  let isRecalled = false;
  const tick = async (): Promise<void> => {
    await pauses.keep();
    // In a fleet, the other hosts do the work.
    if (!world.mayTake()) return;
    const turn = world.turn.signal();
    await retries.run(turn !== null);
    rounds.startLocal(signal, turn !== null);
    const pause = breaker.pause();
    if (pause !== null) {
      if (breaker.isProbeDue()) rounds.start('probe', probe);
      else loop.ringAt('probe', clock.elapsed() + pause.nextProbeAt - clock.now());
      return;
    }
    if (names.isDue()) rounds.start('names', () => names.look(signal));
    if (!isRecalled) await uploadHosts.recall();
    isRecalled = true;
    await lanes.pump();
    await uploadHosts.tidy();
    if (turn !== null) rounds.startRemote(withTurn(turn));
  };

  /** One signal for each turn, because the loop ticks often. */
  let ofTurn: { readonly turn: AbortSignal; readonly both: AbortSignal } | null = null;
  const withTurn = (turn: AbortSignal): AbortSignal => {
    if (ofTurn?.turn !== turn) ofTurn = { turn, both: AbortSignal.any([signal, turn]) };
    return ofTurn.both;
  };

  const probe = async (): Promise<void> => {
    if (!(await breaker.probe(signal))) return;
    names.serviceBack();
    release();
  };

  /** Files that waited for a host skip their own backoff once the host is back. */
  const release = (): void => {
    retries.serviceBack();
    loop.wake();
  };

  /** Background work failed. Everything waits if the machine is at its limits. */
  const broke = (work: string, error: unknown): void => {
    const failure = failureOfMachine(error);
    if (isTakenOver(error)) logger.warn('Another worker has the file now', { work, err: error });
    else if (failure === null) logger.error('A background task failed', { work, err: error });
    else breaker.failed(failure);
  };

  /** Called when a step ended or an event brought a failure; null for a success. */
  const ended = (facts: Facts, failure: Failure | null): void => {
    if (facts.uploadedAt !== null && facts.end !== null) rounds.fell(facts.id);
    if (facts.notBefore !== null) retries.waits(facts.notBefore);
    if (failure === null) breaker.succeeded();
    // Failures that involve a host were already classified.
    else if (failure.kind === 'suspended') breaker.failed(failure);
  };

  const retry = (): RetryPolicy => settings.retry;
  const loop = new Loop({ clock, isShared: world.elsewhere !== null, tick, broke: (error) => broke('tick', error) });
  const uploads = createUploads(clock);
  const pauses = createOperatorPauses({ ...world, ended: () => loop.wake() });
  const breaker = createBreaker(world);
  const uploadHosts = createUploadHosts({
    ...world,
    isBack: release,
    ringAt: (host, at) => loop.ringAt(`upload host ${host}`, at),
  });
  const names = createServiceNames({ ...world, back: release, ringAt: (at) => loop.ringAt('names', at) });
  const service = judgedService(world, { breaker, uploadHosts, names, stopping: signal });
  const unconfirmed = createUnconfirmedCreates(world);
  const runner = createRunner({
    ...world,
    steps: createSteps({ ...world, host: service.host, names, unconfirmed, uploads, uploadHosts }, signal),
    policy: policyOf(clock, retry),
    ended,
    stuck: (id, error) => {
      logger.error('Cannot write the result of a step to the ledger', { file: id, err: error });
      breaker.failed({ ...failureOfThrown(error), kind: 'suspended' });
    },
  });
  const lanes = new Lanes(
    {
      ...world,
      runner,
      mayCreate: async () => uploadHosts.mayCreate() && (await unconfirmed.mayRisk()),
      isPaused: (folder) => pauses.holds(folder) !== null,
      uploadHosts,
      onEnd: (id, wasOurs) => {
        uploads.ended(id);
        uploadHosts.ended(id);
        // Retrying at once would keep a processor busy until the other worker is done.
        if (wasOurs) loop.wake();
      },
    },
    initial,
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
        // A ready file can be published, a published one put away.
        if (applied === 'applied') loop.wake();
        return applied;
      },
    },
    settings: () => settings,
    filesPerHour: uploads.filesPerHour,
    failed: breaker.judge,
    broke,
    wake: () => loop.wake(),
    ringAt: (name, at) => loop.ringAt(name, at),
  });

  /** One query for all states, so a file that moves from one state to another is not missed in between. */
  const countUnfinished = async (): Promise<number> => {
    if (pauses.all() !== null) return world.store.count(['processing', 'awaiting publish']);
    const paused = pauses.list().flatMap(({ folder }) => folder ?? []);
    return world.store.count(['queued', 'awaiting upload', 'retrying', 'processing', 'awaiting publish'], paused);
  };

  return {
    start: () => loop.start(),
    /** Refuses new work, lets what runs finish until the signal fires, then cuts it. Ends with all facts written. */
    stop: async (hurry: AbortSignal): Promise<void> => {
      lanes.close();
      stopping.abort();
      await loop.stop();
      await Promise.race([lanes.drained(), aborted(hurry)]);
      await runner.abort();
      await rounds.finished();
    },
    change: (changed: ConductorSettings): void => {
      settings = changed;
      lanes.change(changed);
      loop.wake();
    },
    /** Something changed: the loop looks now instead of at the next tick. */
    wake: () => loop.wake(),
    /** A file was taken in or moved on, so the ledger can be written again. */
    tookIn: (): void => {
      breaker.wrote();
      loop.wake();
    },
    /** Gives an event to a file that no step works on. */
    apply: async (id: string, event: FileEvent): Promise<Applied> => {
      const applied = await runner.apply(id, event);
      // An emptied folder brings thousands of events that change nothing.
      if (applied !== 'applied') return applied;
      if (event.type === 'FILE_CHANGED') rounds.fell(id);
      loop.wake();
      return applied;
    },
    /**
     * Gives an event to a file, and cuts the step that works on it: see `Runner.interrupt`. @throws what the ledger
     * throws
     */
    interrupt: async (id: string, event: FileEvent, isTooLate?: AbortSignal): Promise<Applied> => {
      const applied = await runner.interrupt(id, event, isTooLate);
      loop.wake();
      return applied;
    },
    /** The operator's pauses. */
    pauses,
    /** Which channels and feeds the service has. */
    names,
    /** Publishes a feed now, at the operator's request; see `Publish.now`. */
    publishNow: async (feed: string) => {
      // The feed may have been created a moment ago.
      if (names.unknown().some(({ kind, name }) => kind === 'feed' && name === feed)) await names.look(signal);
      return rounds.publishNow(feed);
    },
    /** Asks the service at once whether the reason of a pause is gone. */
    probeNow: (): void => {
      breaker.probeNow();
      uploadHosts.tryNow();
      release();
    },
    /**
     * Asks whether the service still has the video of a file that is done. If not, the file is held, as if this had
     * been found during processing.
     *
     * @returns `there`, `applied` when the file is held now, another word when its row could not be written, or why the
     *   service cannot say
     */
    checkVideo: async ({ id, videoId }: Facts): Promise<Applied | 'there' | Failure> => {
      const status = await service.host.status(videoId ?? '', signal);
      if (status.ok) return 'there';
      return status.failure.kind === 'gone' ? runner.apply(id, { type: 'REMOTE_GONE' }) : status.failure;
    },
    /** Tries again to delete or move a local file that waits or was kept. Null: another worker holds its row. */
    putAwayAgain: async (id: string): Promise<boolean | null> => {
      const isTried = await rounds.putAwayAgain(id);
      loop.wake();
      return isTried;
    },
    /** A webhook says that videos have changed: polls the service soon, at most once a second. */
    ring: (): void => {
      rounds.sweep.ring();
      loop.wake();
    },
    /** A watched folder can be trusted again, so its waiting files continue. */
    folderBack: (folder: string): void => {
      retries.folderBack(folder);
      loop.wake();
    },
    /** A scan of a watched folder succeeded: one of the files that wait there for deletion or a move is tried again. */
    folderSeen: rounds.folderSeen,
    broke,
    /**
     * When the loop last made progress, on the monotonic clock: at the end of each tick, at least every three seconds,
     * and with every row that a long tick has moved. It stops only when a tick hangs, or fails each time because of a
     * bug.
     */
    progressedAt: () => loop.progressedAt(),
    /** Why everything waits, or all uploads to one host; null when nothing does. */
    pause: () => breaker.pause() ?? uploadHosts.pause(),
    /** Why a queued file cannot start at present; null when others are only ahead of it. */
    noSlot: (facts: Facts): NoSlot | null => {
      const state = stateOf(facts);
      return state === 'queued' || state === 'awaiting upload' ? lanes.whyNot(state, queuedOf(facts)) : null;
    },
    /** Why dropcast learns late that a video is ready, or null. */
    pollTrouble: rounds.sweep.trouble,
    /** When the service is polled next (epoch milliseconds); null: no video is being processed. */
    nextPollAt: (): number | null => {
      const at = rounds.sweep.nextAt();
      return at === null ? null : at - clock.elapsed() + clock.now();
    },
    /** Progress of the comparison of existing files with the service's videos; null when none is compared. */
    comparison: rounds.comparison,
    /** Feeds that wait to be published, and why. */
    feedsWaiting: rounds.feedsWaiting,
    /**
     * Until when (epoch milliseconds) no file gets a record, because too many create requests had no usable answer; or
     * null.
     */
    createsWaitUntil: unconfirmed.waitUntil,
    uploads: uploads.list,
    /** Bytes that left in uploads, also in those that broke off, since the start. */
    sentBytes: uploads.sentBytes,
    /** The measured speed; a member is null while it is not known. */
    pace: () => ({
      bytesPerSecond: uploads.bytesPerSecond(),
      processingMs: rounds.sweep.usualMs(),
      latePoll: rounds.sweep.late(),
    }),
    /** True when no file has work left. */
    isIdle: async (): Promise<boolean> => {
      const { store } = world;
      if (lanes.size() > 0 || !rounds.isPutAwayUpToDate() || (await countUnfinished()) > 0) return false;
      const groups = ['to put away', 'to amend', 'to compare'] as const;
      const rows = groups.map((group) => store.rows({ group, limit: 1 }));
      const left = await Promise.all([...rows, store.feedsDue()]);
      return left.every(({ length }) => length === 0);
    },
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
