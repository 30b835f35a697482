import type { KeptEvents } from '../events.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import type {
  AdoptionStore,
  Budget,
  FeedStore,
  FileStore,
  LeftoverStore,
  LocalFiles,
  NoteStore,
  PublishStore,
  RetentionStore,
  VideoHost,
  VideoLibrary,
} from '../file/ports.ts';
import type { CountStore } from '../file/selection.ts';
import type { RowStore } from '../file/row-groups.ts';
import type { Rows } from '../file/rows.ts';
import type { Runner } from '../steps/runner.ts';
import { createAdopt } from './adopt.ts';
import type { AdoptWorld } from './adopt.ts';
import { createAmend } from './amend.ts';
import { createDoubts } from './doubts.ts';
import { createGiveBack } from './empty-records.ts';
import { createDuplicates } from './duplicates.ts';
import { createJobs } from './jobs.ts';
import { createPublish } from './publish.ts';
import type { Wanted } from '../request-shares.ts';
import { createPutAway } from './put-away.ts';
import { createRetention } from './retention.ts';
import type { RetentionWorld } from './retention.ts';
import { createSweep } from './sweep.ts';
import type { SweepWorld } from './sweep.ts';
import { createTakeBack } from './take-back.ts';
import type { TakeBackWorld } from './take-back.ts';

/** Settings for the pace of the rounds. Times are milliseconds. */
export interface RoundSettings {
  readonly retry: RetryPolicy;
  readonly poll: { readonly intervalMs: number; readonly giveUpAfterMs: number };
  readonly publish: { readonly quietMs: number; readonly atMostMs: number };
  /** Folders whose rule deletes local files, now or later. */
  readonly deletesIn: readonly string[];
  /** `service.marker` */
  readonly isMarking: boolean;
}

export interface RoundsWorld
  extends
    Pick<RetentionWorld, 'diskOf' | 'freedBy'>,
    Pick<AdoptWorld, 'durationOf' | 'isArchiveSeen'>,
    Pick<SweepWorld, 'receipts' | 'clock' | 'logger' | 'failed' | 'ringAt'>,
    Pick<TakeBackWorld, 'takeBackNote'> {
  readonly store: RowStore &
    FileStore &
    CountStore &
    PublishStore &
    FeedStore &
    RetentionStore &
    AdoptionStore &
    LeftoverStore &
    NoteStore;
  readonly rows: Rows;
  readonly runner: Pick<Runner, 'apply' | 'applyTo'>;
  readonly host: VideoHost;
  readonly library: VideoLibrary;
  readonly local: LocalFiles;
  readonly events: KeptEvents;
  readonly budget: Budget;
  /** The current settings, which a reload may change. */
  settings(): RoundSettings;
  /** Files sent per hour at the present speed; null if not known. */
  filesPerHour(): number | null;
  broke(round: string, error: unknown): void;
  wake(): void;
}

/**
 * Interval between checks of the feeds. They are not checked on every wake-up: a bulk upload causes many per second,
 * and each check reads all waiting files.
 */
const publishEveryMs = 1_000;

/**
 * Creates the rounds, which work on many files at once, in addition to the steps of single files. Each round runs at
 * most once at a time.
 */
export function createRounds(world: RoundsWorld) {
  const { clock, settings, wake } = world;
  const retry = (): RetryPolicy => settings().retry;
  const jobs = createJobs(clock, world.broke);
  const room = () => world.budget.room();
  const wanted = async (): Promise<Wanted> => ({
    creates: Math.min(await world.store.count({ states: ['queued'] }), mostCreates(world.filesPerHour())),
    publishes: publish.waits().length,
  });
  const publish = createPublish({
    ...world,
    timing: () => ({ ...settings().publish, retry: retry() }),
    room,
    wanted,
  });
  /** Whether a sweep has moved a file to another state. */
  let hasNews = false;
  const runner: Pick<Runner, 'apply'> = {
    apply: async (id, event) => {
      const applied = await world.runner.apply(id, event);
      if (applied === 'applied') hasNews = true;
      return applied;
    },
  };
  const sweep = createSweep({ ...world, runner, room, wanted });
  const retention = createRetention({ ...world, deletesIn: () => settings().deletesIn });
  const putAway = createPutAway({ ...world, retry, isHosted: retention.isHosted });
  const adopt = createAdopt({ ...world, retry, isMarking: () => settings().isMarking });
  const giveBack = createGiveBack(world);
  const doubts = createDoubts(world);
  const amend = createAmend({ ...world, retry });
  const duplicates = createDuplicates(world);
  const takeBack = createTakeBack({ ...world, retry, fell: duplicates.fell });
  /** Time of the next check of the feeds; monotonic clock. */
  let publishAt = 0;
  const sweepAndLook = async (signal: AbortSignal): Promise<void> => {
    await sweep.run(signal);
    if (!hasNews) return;
    hasNews = false;
    publishAt = 0;
    wake();
  };
  const publishAndRing = async (signal: AbortSignal): Promise<void> => {
    await publish.run(signal);
    const dueAt = publish.dueAt();
    if (dueAt >= publishAt) return;
    publishAt = dueAt;
    world.ringAt('publish', dueAt);
  };
  return {
    /**
     * Starts the rounds that do not need the service. @param isOurTurn includes work that only one host of a fleet may
     * do
     */
    startLocal: (signal: AbortSignal, isOurTurn: boolean): void => {
      if (isOurTurn)
        jobs.start('duplicates', async () => {
          if ((await duplicates.run()) > 0) wake();
        });
      jobs.start('put away', async () => {
        if ((await putAway.run(signal)) > 0) wake();
      });
      jobs.start('retention', retention.look);
    },
    fell: duplicates.fell,
    /** Starts the rounds that query the service, on the host that has the turn. */
    startRemote: (signal: AbortSignal): void => {
      jobs.start('sweep', () => sweepAndLook(signal));
      jobs.start('amend', () => amend.run(signal));
      jobs.start('deletions', () => retention.confirm(signal));
      jobs.start('adopt', () => adopt.run(signal));
      jobs.start('give back', () => giveBack.run(signal));
      jobs.start('doubts', () => doubts.run(signal));
      if (clock.elapsed() < publishAt) return;
      publishAt = clock.elapsed() + publishEveryMs;
      jobs.start('publish', () => publishAndRing(signal));
    },
    /** Starts the round that each host of a fleet does for itself. */
    startOwn: (signal: AbortSignal): void => jobs.start('take back', () => takeBack.run(signal)),
    takeBack,
    sweep,
    comparison: adopt.progress,
    publishNow: async (feed: string) => {
      const asked = await publish.now(feed);
      publishAt = 0;
      wake();
      return asked;
    },
    feedsWaiting: publish.waits,
    putAwayAgain: putAway.again,
    folderSeen: (folder: string): void => {
      if (putAway.folderSeen(folder)) wake();
    },
    /** Whether every file waiting for deletion or a move has been tried when due, and no deletion is due. */
    isPutAwayUpToDate: (): boolean => putAway.isUpToDate() && retention.isUpToDate(),
    /** Starts another background job, which runs at most once at a time. */
    start: jobs.start,
    finished: jobs.finished,
  };
}

/**
 * Returns how many creates per hour to plan for. Records are created slightly ahead of the uploads, and the next files
 * may be smaller.
 */
function mostCreates(filesPerHour: number | null): number {
  return filesPerHour === null ? Infinity : 20 + 2 * filesPerHour;
}
