import { aborted } from './aborted.ts';
import type { Pace } from './estimate.ts';
import type { Facts } from './file/facts.ts';
import { stateOf } from './file/facts.ts';
import { failureOfMachine } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { FileEvent } from './file/machine.ts';
import { queuedOf } from './file/queue.ts';
import { isTakenOver } from './file/rows.ts';
import { Loop } from './loop.ts';
import { createParts } from './parts.ts';
import type { ConductorSettings, ConductorWorld, Parts } from './parts.ts';
import type { OperatorPauses } from './operator-pauses.ts';
import type { Pause } from './events.ts';
import type { Comparison } from './rounds/adopt.ts';
import type { FeedWait, Publish } from './rounds/publish.ts';
import type { PollTrouble } from './rounds/sweep.ts';
import type { ServiceNames } from './service-names.ts';
import type { Applied } from './steps/runner.ts';
import type { NoSlot } from './steps/slots.ts';
import type { LiveUpload } from './steps/uploads.ts';

export interface Conductor {
  start(): void;
  /** Something changed: looks now, not at the next tick. */
  wake(): void;
  /** A file was taken in or moved on: the ledger can be written to (again). */
  tookIn(): void;
  /** Gives an event to a file that nobody works on. */
  apply(id: string, event: FileEvent): Promise<Applied>;
  /**
   * When it last got on, by the monotonic clock: it turns at the end of each tick, at least every three seconds, and with every row that a
   * long tick has moved. Only one that hangs, or breaks each time for a reason of its own, no longer turns.
   */
  progressedAt(): number;
  /**
   * Gives an event to a file, and cuts the step that works on it: see `Runner.interrupt`. @throws what the ledger throws
   */
  interrupt(id: string, event: FileEvent, isTooLate?: AbortSignal): Promise<Applied>;
  /** What people paused. */
  readonly pauses: OperatorPauses;
  /** A person wants a feed to be published now; see `Publish.now`. */
  publishNow: Publish['now'];
  /** Why everything waits, or all uploads to a host, or null. */
  pause(): Pause | null;
  /** Why a file in line cannot be taken up at present; null when it is only not its turn yet. */
  noSlot(facts: Facts): NoSlot | null;
  /** Why it takes long to hear that a video is ready, or null. */
  pollTrouble(): PollTrouble | null;
  /** When the service is asked next how far the videos are (epoch milliseconds); null: it is asked about none. */
  nextPollAt(): number | null;
  /** How far the comparison of files that were there before with what the service has is; null when none is compared. */
  comparison(): Comparison | null;
  /** Feeds that wait to be published, and why. */
  feedsWaiting(): readonly FeedWait[];
  /** Until when (epoch milliseconds) no file gets a record, because too many create requests had no usable answer; or null. */
  createsWaitUntil(): number | null;
  /** Asks the service at once whether the reason of a pause is gone. */
  probeNow(): void;
  /** Somebody says that videos have changed: the service is asked soon, at most once a second. */
  ring(): void;
  /**
   * Asks whether the service still has the video of a file that is done. If not, the file is held, as if that had been found while it was
   * processed.
   *
   * @returns `there`, `applied` when it is held now, another word when its row could not be written, or why the service cannot say
   */
  checkVideo(facts: Facts): Promise<Applied | 'there' | Failure>;
  /** Tries again to delete or move a local file that waits or was kept. Null: somebody else holds its row. */
  putAwayAgain(id: string): Promise<boolean | null>;
  /** Which channels and feeds the service has. */
  readonly names: Pick<ServiceNames, 'ask' | 'change' | 'unknown' | 'known'>;
  /** Work beside it broke: when the machine is at its limits, everything waits. */
  broke(work: string, error: unknown): void;
  /** A watched folder can be trusted (again): what waited for it goes on. */
  folderBack(folder: string): void;
  /** A scan of a watched folder ended well: one of the files that wait there to be put away is tried again. */
  folderSeen(folder: string): void;
  uploads(): readonly LiveUpload[];
  /** Bytes that left in uploads, also in those that broke off, since the start. */
  sentBytes(): number;
  /** How fast it goes, as measured; null what is not known yet. */
  pace(): Pick<Pace, 'bytesPerSecond' | 'processingMs' | 'latePoll'>;
  /** True when nothing is left to do with any file but those that ended. */
  isIdle(): Promise<boolean>;
  change(settings: ConductorSettings): void;
  /** Refuses new work, lets what runs finish until the signal fires, then cuts it. Ends with all facts written. */
  stop(hurry: AbortSignal): Promise<void>;
}

/**
 * Moves every file on, in one loop: releases what has waited, fills the lanes, starts the rounds. While the service is away it
 * only probes.
 *
 * @param world the ports; `rows` is the one writer that intake and conductor share
 * @param initial settings until `change`
 */
export function createConductor(world: ConductorWorld, initial: ConductorSettings): Conductor {
  let settings = initial;
  const stopping = new AbortController();
  const { signal } = stopping;

  let isRecalled = false;
  const tick = async (): Promise<void> => {
    await pauses.keep();
    // Of a fleet, the other hosts do it.
    if (!world.mayTake()) return;
    const turn = world.turn.signal();
    await retries.run(turn !== null);
    rounds.startLocal(signal, turn !== null);
    const pause = breaker.pause();
    if (pause !== null) {
      if (breaker.isProbeDue()) rounds.start('probe', probe);
      else loop.ringAt('probe', world.clock.elapsed() + pause.nextProbeAt - world.clock.now());
      return;
    }
    if (names.isDue()) rounds.start('names', () => names.look(signal));
    if (!isRecalled) await uploadHosts.recall();
    isRecalled = true;
    await lanes.pump();
    await uploadHosts.tidy();
    if (turn !== null) rounds.startRemote(withTurn(turn));
  };

  /** One signal for each turn: the loop ticks often. */
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

  /** What waited for a host need not wait for its own backoff once the host is back. */
  const release = (): void => {
    retries.serviceBack();
    loop.wake();
  };

  const broke = (work: string, error: unknown): void => {
    const failure = failureOfMachine(error);
    if (isTakenOver(error)) world.logger.warn('Another worker has the file now', { work, err: error });
    else if (failure === null) world.logger.error('A background task failed', { work, err: error });
    else breaker.failed(failure);
  };

  const loop = new Loop({
    clock: world.clock,
    isShared: world.elsewhere !== null,
    tick,
    broke: (error) => broke('tick', error),
  });
  const parts = createParts(world, { loop, stopping: signal, settings: () => settings, broke, hostBack: release });
  const { breaker, lanes, names, pauses, retries, rounds, runner, uploadHosts } = parts;

  return {
    start: () => loop.start(),
    stop: async (hurry) => {
      lanes.close();
      stopping.abort();
      await loop.stop();
      await Promise.race([lanes.drained(), aborted(hurry)]);
      await runner.abort();
      await rounds.finished();
    },
    change: (changed) => {
      settings = changed;
      lanes.change(changed);
      loop.wake();
    },
    wake: () => loop.wake(),
    tookIn: () => {
      breaker.wrote();
      loop.wake();
    },
    apply: async (id, event) => {
      const applied = await runner.apply(id, event);
      // A folder that is emptied brings thousands of events that change nothing.
      if (applied !== 'applied') return applied;
      if (event.type === 'FILE_CHANGED') rounds.fell(id);
      loop.wake();
      return applied;
    },
    interrupt: async (id, event, isTooLate) => {
      const applied = await runner.interrupt(id, event, isTooLate);
      loop.wake();
      return applied;
    },
    pauses,
    publishNow: async (feed) => {
      // Whoever asks for it may have made it a moment ago.
      if (names.unknown().some(({ kind, name }) => kind === 'feed' && name === feed)) await names.look(signal);
      return rounds.publishNow(feed);
    },
    probeNow: () => {
      breaker.probeNow();
      uploadHosts.tryNow();
      release();
    },
    checkVideo: async ({ id, videoId }) => {
      const status = await parts.host.status(videoId ?? '', signal);
      if (status.ok) return 'there';
      return status.failure.kind === 'gone' ? runner.apply(id, { type: 'REMOTE_GONE' }) : status.failure;
    },
    putAwayAgain: async (id) => {
      const isTried = await rounds.putAwayAgain(id);
      loop.wake();
      return isTried;
    },
    ring: () => {
      rounds.ring();
      loop.wake();
    },
    folderBack: (folder) => {
      retries.folderBack(folder);
      loop.wake();
    },
    folderSeen: rounds.folderSeen,
    names,
    broke,
    progressedAt: () => loop.progressedAt(),
    pause: () => breaker.pause() ?? uploadHosts.pause(),
    noSlot: (facts) => {
      const state = stateOf(facts);
      return state === 'queued' || state === 'awaiting upload' ? lanes.whyNot(state, queuedOf(facts)) : null;
    },
    pollTrouble: () => rounds.pollTrouble(),
    nextPollAt: () => {
      const at = rounds.nextPollAt();
      return at === null ? null : at - world.clock.elapsed() + world.clock.now();
    },
    comparison: () => rounds.comparison(),
    feedsWaiting: () => rounds.feedsWaiting(),
    createsWaitUntil: () => parts.unconfirmed.waitUntil(),
    uploads: () => parts.uploads.list(),
    sentBytes: () => parts.uploads.sentBytes(),
    pace: () => ({
      bytesPerSecond: parts.uploads.bytesPerSecond(),
      processingMs: rounds.processingMs(),
      latePoll: rounds.latePoll(),
    }),
    isIdle: () => isIdle(world.store, parts),
  };
}

const waitForStep = ['queued', 'awaiting upload', 'retrying'] as const;
const waitForService = ['processing', 'awaiting publish'] as const;

async function isIdle(store: ConductorWorld['store'], { lanes, pauses, rounds }: Parts): Promise<boolean> {
  if (lanes.size() > 0 || !rounds.isPutAwayUpToDate()) return false;
  if ((await countUnfinished(store, pauses)) > 0) return false;
  const left = await Promise.all([store.toDispose(1), store.toAmend(1), store.toCompare(1), store.feedsDue()]);
  return left.every(({ length }) => length === 0);
}

/** One look at all of them: a file that moves from one state to another must not be missed in between. */
async function countUnfinished(store: ConductorWorld['store'], pauses: OperatorPauses): Promise<number> {
  if (pauses.all() !== null) return store.count(...waitForService);
  const paused = pauses.list().flatMap(({ folder }) => folder ?? []);
  return paused.length === 0 ? store.count(...waitForStep, ...waitForService) : store.countUnfinished(paused);
}
