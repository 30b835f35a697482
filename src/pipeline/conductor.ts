import { backoffMs } from './file/backoff.ts';
import type { RetryPolicy } from './file/backoff.ts';
import type { Facts } from './file/facts.ts';
import { stateOf } from './file/facts.ts';
import { failureOfMachine, failureOfThrown } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { Pause } from './events.ts';
import type { FileEvent, MachinePolicy } from './file/machine.ts';
import type { Clock, CreatedStore, Elsewhere, NoteStore, PauseStore, QueueStore, Turn } from './file/ports.ts';
import { queuedOf } from './file/queue.ts';
import type { RowStore } from './file/row-groups.ts';
import { isTakenOver } from './file/rows.ts';
import { judgedService } from './judged-service.ts';
import { createLoop } from './loop.ts';
import { createOperatorPauses } from './operator-pauses.ts';
import { createBreaker } from './pause.ts';
import { createRetries } from './rounds/retries.ts';
import { createRounds } from './rounds/rounds.ts';
import type { RoundSettings, RoundsWorld } from './rounds/rounds.ts';
import { createServiceNames } from './service-names.ts';
import { createSizeLimits } from './size-limits.ts';
import type { CreateWorld } from './steps/create.ts';
import type { RecordedStore } from './steps/delete-video.ts';
import { createAutoSlots } from './steps/auto-slots.ts';
import { createLanes } from './steps/lanes.ts';
import type { LanesWorld, Limits, NoSlot } from './steps/lanes.ts';
import { createRunner } from './steps/runner.ts';
import type { Applied } from './steps/runner.ts';
import { createSteps } from './steps/steps.ts';
import { createUnconfirmedCreates } from './steps/unconfirmed-creates.ts';
import { createUploads } from './steps/uploads.ts';
import { createQuota } from './quota.ts';
import type { QuotaWorld } from './quota.ts';
import { createRefusedCreates } from './refused-creates.ts';
import { createUploadHosts } from './upload-hosts.ts';
import { aborted } from './wake-up.ts';

export interface ConductorSettings extends RoundSettings, Limits {
  /** Whether the number of uploads may grow from `uploads` on (`uploads.concurrency: auto`). */
  readonly isAuto: boolean;
  /** Largest file that is sent, in bytes; Infinity for no limit. */
  readonly maxSizeBytes: number;
}

type Own = 'runner' | 'settings' | 'failed' | 'broke' | 'wake' | 'ringAt' | 'filesPerHour';

export interface ConductorWorld
  extends
    Omit<RoundsWorld, Own>,
    Pick<CreateWorld, 'newToken'>,
    Pick<LanesWorld, 'uploadsStartAt' | 'mayTake'>,
    Pick<QuotaWorld, 'quota'> {
  readonly store: RoundsWorld['store'] &
    QueueStore &
    PauseStore &
    RecordedStore &
    NoteStore &
    CreatedStore &
    RowStore<'too large'>;
  /**
   * Whether nothing in a folder may be touched, because another dropcast instance has it or its file system does not
   * respond.
   */
  isOffLimits(folder: string): boolean;
  /** Whether this host does the work that only one host of a fleet may do. */
  readonly turn: Turn;
  readonly elsewhere: Elsewhere | null;
}

export type Conductor = ReturnType<typeof createConductor>;

/**
 * Moves every file forward, in one loop that releases files whose wait has ended, fills the lanes and starts the
 * rounds. While the service is unreachable, the loop only probes.
 *
 * @param world the ports; `rows` is the single writer that intake and conductor share
 * @param initial settings in force until `change`
 */
export function createConductor(world: ConductorWorld, initial: ConductorSettings) {
  const { clock, logger } = world;
  let settings = initial;
  const stopping = new AbortController();
  const { signal } = stopping;

  let isRecalled = false;
  const tick = async (): Promise<void> => {
    await pauses.keep();
    // In a fleet, the other hosts do the work of a drained host.
    if (!world.mayTake()) return;
    const turn = world.turn.signal();
    await retries.run(turn !== null);
    const isAccepted = refusedCreates.isUnhindered() && quota.pause() === null;
    await sizeLimits.keep(turn !== null && breaker.pause() === null && isAccepted);
    rounds.startLocal(signal, turn !== null);
    const pause = breaker.pause();
    if (pause !== null) {
      if (breaker.isProbeDue()) rounds.start('probe', probe);
      else loop.ringAt('probe', clock.elapsed() + pause.nextProbeAt - clock.now());
      return;
    }
    if (names.isDue()) rounds.start('names', () => names.look(signal));
    if (!isRecalled) await uploadHosts.recall();
    if (!isRecalled) await refusedCreates.recall();
    isRecalled = true;
    fitSlots();
    await lanes.pump();
    await uploadHosts.tidy();
    rounds.startOwn(signal);
    if (turn !== null) rounds.startRemote(withTurn(turn));
  };

  const fitSlots = (): void => {
    const wanted = settings.isAuto ? autoSlots.next(lanes.isFull()) : settings.uploads;
    if (wanted !== lanes.slots()) lanes.change({ ...settings, uploads: wanted });
  };

  /** Combined signal, created once per turn because the loop ticks often. */
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

  /** Releases the files that waited for a host once it is back, so that they skip their own backoff. */
  const release = (withAccount = false): void => {
    retries.serviceBack(withAccount);
    loop.wake();
  };

  /** Restarts files that had failed before repeated refusals showed that they were not the reason. */
  const takeBack = (ids: readonly string[], { code }: Failure): void => {
    const retry = async (id: string): Promise<void> => {
      const facts = await world.store.load(id);
      if (facts?.end === 'failed' && facts.lastFailure?.code === code) await runner.apply(id, { type: 'RETRY' });
    };
    Promise.all(ids.map(retry)).catch((error: unknown) => broke('take back', error));
  };

  /** Handles failed background work. Everything waits if the machine has run out of a resource. */
  const broke = (work: string, error: unknown): void => {
    const failure = failureOfMachine(error);
    if (isTakenOver(error)) logger.warn('Another worker has the file now', { work, err: error });
    else if (failure === null) logger.error('A background task failed', { work, err: error });
    else breaker.failed(failure);
  };

  /** Called after a step or after an event that brought a failure; null means success. */
  const ended = (facts: Facts, failure: Failure | null): void => {
    if (facts.uploadedAt !== null && facts.end !== null) rounds.fell(facts.id);
    if (facts.notBefore !== null) retries.waits(facts.notBefore);
    if (failure === null) breaker.succeeded();
    // Failures that involve a host were already classified.
    else if (failure.kind === 'suspended') breaker.failed(failure);
  };

  const retry = (): RetryPolicy => settings.retry;
  const loop = createLoop({ clock, isShared: world.elsewhere !== null, tick, broke: (error) => broke('tick', error) });
  const uploads = createUploads(clock);
  const autoSlots = createAutoSlots(clock, uploads.sentBytes);
  const pauses = createOperatorPauses({ ...world, ended: () => loop.wake() });
  const breaker = createBreaker(world);
  const uploadHosts = createUploadHosts({
    ...world,
    isBack: () => release(),
    takeBack,
    ringAt: (host, at) => loop.ringAt(`upload host ${host}`, at),
  });
  const names = createServiceNames({ ...world, back: release, ringAt: (at) => loop.ringAt('names', at) });
  const sizeLimits = createSizeLimits({
    ...world,
    isShared: world.elsewhere !== null,
    maxSizeBytes: () => settings.maxSizeBytes,
    apply: (id, event) => runner.apply(id, event),
    ringAt: (at) => loop.ringAt('size limits', at),
  });
  const refusedCreates = createRefusedCreates({
    ...world,
    isBack: () => release(true),
    takeBack,
    ringAt: (at) => loop.ringAt('refused creates', at),
  });
  const quota = createQuota({ ...world, isShared: world.elsewhere !== null, ringAt: (at) => loop.ringAt('quota', at) });
  const service = judgedService(world, { breaker, uploadHosts, names, refusedCreates, stopping: signal });
  const unconfirmed = createUnconfirmedCreates(world);
  const runner = createRunner({
    ...world,
    steps: createSteps(
      { ...world, host: service.host, names, refusedCreates, quota, unconfirmed, uploads, uploadHosts, sizeLimits },
      signal,
    ),
    policy: policyOf(clock, retry),
    ended,
    stuck: (id, error) => {
      logger.error('Cannot write the result of a step to the ledger', { file: id, err: error });
      breaker.failed({ ...failureOfThrown(error), kind: 'suspended' });
    },
  });
  const lanes = createLanes(
    {
      ...world,
      runner,
      mayCreate: async () =>
        uploadHosts.mayCreate() &&
        refusedCreates.mayCreate() &&
        (await quota.mayCreate()) &&
        (await unconfirmed.mayRisk()),
      isPaused: (folder) => pauses.holds(folder) !== null,
      uploadHosts,
      onEnd: (id, wasOurs) => {
        uploads.ended(id);
        uploadHosts.ended(id);
        refusedCreates.ended(id);
        quota.ended(id);
        // Retrying immediately would busy-loop until the other worker is done.
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
        // A file that became ready can be published, and a published one put away.
        if (applied === 'applied') loop.wake();
        return applied;
      },
      applyTo: runner.applyTo,
    },
    settings: () => settings,
    filesPerHour: uploads.filesPerHour,
    failed: breaker.judge,
    broke,
    wake: () => loop.wake(),
    ringAt: (name, at) => loop.ringAt(name, at),
  });

  /** Counts with one query for all states, so that a file that changes state in the meantime is not missed. */
  const countUnfinished = async (): Promise<number> => {
    if (pauses.all() !== null) return world.store.count({ states: ['processing', 'awaiting publish'] });
    const paused = pauses.list().flatMap(({ folder }) => folder ?? []);
    const states = ['queued', 'awaiting upload', 'retrying', 'processing', 'awaiting publish'];
    return world.store.count({ states, paused });
  };

  return {
    start: () => loop.start(),
    /**
     * Refuses new work, lets running work finish until the signal fires, and then aborts it. All facts have been
     * written by the end.
     */
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
      sizeLimits.changed();
      loop.wake();
    },
    /** Makes the loop check for work now instead of at the next tick, because something changed. */
    wake: loop.wake,
    /** Records that a file was accepted or changed state, which shows that the ledger is writable again. */
    tookIn: (): void => {
      breaker.wrote();
      loop.wake();
    },
    apply: async (id: string, event: FileEvent): Promise<Applied> => {
      const applied = await runner.apply(id, event);
      // Emptying a folder causes thousands of events that change nothing.
      if (applied !== 'applied') return applied;
      if (event.type === 'FILE_CHANGED') rounds.fell(id);
      loop.wake();
      return applied;
    },
    /**
     * Applies an event to a file and aborts the step that is working on it; see `Runner.interrupt`.
     * @throws any error from the ledger
     */
    interrupt: async (id: string, event: FileEvent, isTooLate?: AbortSignal): Promise<Applied> => {
      const applied = await runner.interrupt(id, event, isTooLate);
      loop.wake();
      return applied;
    },
    pauses,
    names,
    /** Publishes a feed immediately, at the operator's request; see `Publish.now`. */
    publishNow: async (feed: string) => {
      // The feed may have been created just now.
      if (names.unknown().some(({ kind, name }) => kind === 'feed' && name === feed)) await names.look(signal);
      return rounds.publishNow(feed);
    },
    /** Checks immediately whether the cause of a pause is gone. */
    probeNow: (): void => {
      breaker.probeNow();
      uploadHosts.tryNow();
      refusedCreates.tryNow();
      release(true);
    },
    /**
     * Asks whether the service still has the video of a file that is done. If not, the file is held, as if this had
     * been found during processing.
     *
     * @returns `there`; `applied` if the file is now held; `busy` or `ignored` if its row was not updated; or the
     *   failure of the request
     */
    checkVideo: async ({ id, videoId }: Facts): Promise<Applied | 'there' | Failure> => {
      const status = await service.host.status(videoId ?? '', signal);
      if (status.ok) return 'there';
      return status.failure.kind === 'gone' ? runner.apply(id, { type: 'REMOTE_GONE' }) : status.failure;
    },
    /** Retries deleting or moving a local file that is waiting or was kept. Null: another worker holds its row. */
    putAwayAgain: async (id: string): Promise<boolean | null> => {
      const isTried = await rounds.putAwayAgain(id);
      loop.wake();
      return isTried;
    },
    takeBack: rounds.takeBack,
    ring: (): void => {
      rounds.sweep.ring();
      loop.wake();
    },
    /** Records that a watched folder can be trusted again, so that its waiting files continue. */
    folderBack: (folder: string): void => {
      retries.folderBack(folder);
      loop.wake();
    },
    /**
     * Records a successful scan of a watched folder. One of the files waiting there for deletion or a move is tried
     * again.
     */
    folderSeen: rounds.folderSeen,
    broke,
    /**
     * Returns when the loop last made progress, on the monotonic clock. Progress is recorded at the end of each tick,
     * at least every three seconds, and with every row that a long tick has moved. Progress stops only if a tick hangs
     * or, because of a bug, fails every time.
     */
    progressedAt: loop.progressedAt,
    /** Returns why everything, or every upload to one host, is waiting; null if nothing is. */
    pause: () => inWholeMs(breaker.pause() ?? uploadHosts.pause()),
    /** Returns why the service refuses new videos, of the whole account or of channels; empty if it accepts them. */
    createsPauses: () => [...refusedCreates.pauses(), quota.pause()].map(inWholeMs).filter((pause) => pause !== null),
    quotaRoom: quota.room,
    heard: refusedCreates.heard,
    /** Returns why a queued file cannot start at present; null if it only has to wait its turn. */
    noSlot: (facts: Facts): NoSlot | null => {
      const state = stateOf(facts);
      return state === 'queued' || state === 'awaiting upload' ? lanes.whyNot(state, queuedOf(facts)) : null;
    },
    pollTrouble: rounds.sweep.trouble,
    /** Returns when the service is polled next (epoch milliseconds); null if no video is being processed. */
    nextPollAt: (): number | null => {
      const at = rounds.sweep.nextAt();
      return at === null ? null : at - clock.elapsed() + clock.now();
    },
    comparison: rounds.comparison,
    feedsWaiting: rounds.feedsWaiting,
    /**
     * Until when (epoch milliseconds) no file gets a record, because too many create requests had no usable answer;
     * null if records can be created.
     */
    createsWaitUntil: unconfirmed.waitUntil,
    uploads: uploads.list,
    sentBytes: uploads.sentBytes,
    fastestMs: rounds.sweep.fastestMs,
    /** The measured speed. A member is null while it is unknown. */
    pace: () => ({
      bytesPerSecond: uploads.bytesPerSecond(),
      processingMs: rounds.sweep.usualMs(),
      latePoll: rounds.sweep.late(),
      slots: lanes.slots(),
    }),
    /** Whether no file has any work left. */
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

/** Rounds the times of a pause, because the monotonic clock has fractions and JSON promises whole milliseconds. */
function inWholeMs(pause: Pause | null): Pause | null {
  return pause && { ...pause, since: Math.round(pause.since), nextProbeAt: Math.round(pause.nextProbeAt) };
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
