import type { RetryPolicy } from '../file/backoff.ts';
import { mayHaveArrived } from '../file/facts.ts';
import type { Facts } from '../file/facts.ts';
import { isAway, stopped } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import { folderAway } from '../pause.ts';
import type {
  Budget,
  Clock,
  FeedStore,
  LocalFiles,
  NoteStore,
  Receipts,
  VideoHost,
  VideoLibrary,
} from '../file/ports.ts';
import { condemned, isBeingTakenBack, mayBeTakenBack } from '../file/reasons.ts';
import type { RowStore } from '../file/row-groups.ts';
import type { Row, Rows } from '../file/rows.ts';
import { deleteVideo } from '../steps/delete-video.ts';
import type { Runner } from '../steps/runner.ts';
import { createBackoffs } from './backoffs.ts';
import { handEdits } from './hand-edits.ts';
import { ListWalk } from './list-walk.ts';
import type { Walked } from './list-walk.ts';

export interface TakeBackWorld {
  readonly store: RowStore<'any'> & Pick<FeedStore, 'noteFeedDue'> & NoteStore;
  readonly rows: Pick<Rows, 'claim'>;
  readonly runner: Pick<Runner, 'applyTo'>;
  readonly host: Pick<VideoHost, 'remove' | 'status'>;
  readonly library: Pick<VideoLibrary, 'get' | 'list'>;
  readonly local: Pick<LocalFiles, 'check' | 'hash'>;
  readonly receipts: Receipts;
  readonly budget: Pick<Budget, 'take'>;
  readonly clock: Clock;
  /** Name of the note with the run of this host. */
  readonly takeBackNote: string;
  readonly retry: () => RetryPolicy;
  /** Judges a failed request to the service. @returns the failure as classified */
  failed(failure: Failure, signal: AbortSignal): Promise<Failure>;
  /** Called when a file no longer has a video, so that its duplicates get their turn. */
  fell(id: string): void;
  wake(): void;
  ringAt(name: string, at: number): void;
}

/** A run of `dropcast undo`. Times are epoch milliseconds. */
export interface TakeBackRun {
  readonly at: number;
  readonly by: string;
  /** Each file with its video. No other video is ever deleted. */
  readonly files: readonly (readonly [id: string, videoId: string])[];
  /** Files whose video stays, and why. */
  readonly kept: readonly { readonly id: string; readonly path: string; readonly why: string }[];
  readonly stopped_by: string | null;
  readonly ended_at: number | null;
}

/** The progress of a run. */
export interface TakeBackProgress extends Omit<TakeBackRun, 'files'> {
  readonly files: number;
  /** Files whose video is gone. */
  readonly taken: number;
  readonly left: number;
  /** Why the run does not continue at present, or null. */
  readonly waits_for: string | null;
}

/** Number of videos in a row whose requests failed, after which all videos wait. */
const mostMisses = 2;
const all = '';

/** An operator is waiting, so these requests take turns with new uploads. */
const lane = 'create';

/**
 * Takes back uploads: deletes their videos on the service (`dropcast undo`). The run is durable before its first
 * request, and each row before the DELETE of its video. A restart continues both.
 */
export function createTakeBack(world: TakeBackWorld) {
  const { store, rows, runner, host, library, local, receipts, clock } = world;
  const policy = () => ({ ...world.retry(), attempts: Infinity });
  const backoffs = createBackoffs(clock, policy, (at) => world.ringAt('take back', at));
  let run: TakeBackRun | null = null;
  /** File id → the video to delete. Null: not read from the ledger yet. */
  let left: Promise<Map<string, string>> | null = null;
  let isStarting = false;
  let misses = 0;
  let waitsFor: string | null = null;

  const save = async (changed: TakeBackRun): Promise<void> => {
    run = changed;
    await store.saveNote(world.takeBackNote, changed);
  };

  const read = async (): Promise<Map<string, string>> => {
    run = (await store.note(world.takeBackNote)) as TakeBackRun | null;
    const kept = new Set(run?.kept.map(({ id }) => id));
    const files = run?.ended_at === null ? run.files.filter(([id]) => !kept.has(id)) : [];
    // A row that was restored from its receipt may belong to no run.
    const found = await store.rows({ group: 'any', where: { states: ['skipped'], cause: 'taken_back' } });
    const marked = found.filter(isBeingTakenBack).map(({ id, videoId }) => [id, videoId ?? ''] as const);
    return new Map([...files, ...marked]);
  };
  const recall = (): Promise<Map<string, string>> =>
    (left ??= read().catch((error: unknown) => {
      left = null;
      throw error;
    }));

  const keep = async (row: Row, why: string): Promise<null> => {
    if (isBeingTakenBack(row.facts)) {
      // Replaces the receipt `taken back`, by which a rebuilt ledger would delete the video.
      await receipts.append('ready', row.facts);
      await runner.applyTo(row, { type: 'VIDEO_KEPT', why });
    }
    const { id, folder, path } = row.facts;
    if (run?.ended_at === null) await save({ ...run, kept: [...run.kept, { id, path: `${folder}/${path}`, why }] });
    return null;
  };

  const mark = async (row: Row, videoId: string): Promise<void> => {
    if (isBeingTakenBack(row.facts)) return;
    const by = run?.by ?? '';
    await receipts.append('taken back', { ...row.facts, ...condemned(row.facts, `taken back by ${by}`) });
    await runner.applyTo(row, { type: 'TAKE_BACK', videoId, by });
  };

  const finish = async (row: Row, videoId: string): Promise<null> => {
    // The video may have been deleted by a person, before its row was marked.
    await mark(row, videoId);
    // The feeds are recorded first. After a crash in between, both are repeated, which is harmless.
    for (const feed of feedsWith(row.facts)) await store.noteFeedDue(feed, clock.now(), false);
    await runner.applyTo(row, { type: 'VIDEO_DELETED' });
    world.fell(row.facts.id);
    return null;
  };

  const isShared = async (videoId: string): Promise<boolean> =>
    (await store.rows({ group: 'any', where: { videoId }, limit: 2 })).length > 1;

  /** @returns why the video cannot be dealt with now; null: it is deleted, or stays */
  const one = async (row: Row, videoId: string, signal: AbortSignal): Promise<Failure | null> => {
    const { facts } = row;
    const isMarked = isBeingTakenBack(facts);
    const isStopped = (): boolean => run?.stopped_by != null && !isMarked;
    if (facts.videoId !== videoId || isStopped()) return null;
    const refusal = isMarked ? null : refusalOf(facts);
    if (refusal !== null) return keep(row, refusal);
    // The file is read first: reading takes minutes, and the request must come right before the DELETE.
    const hash = await local.hash(facts, signal);
    if (!hash.ok && !isAway(hash.failure)) return hash.failure;
    // Counted here, because the client lets requests of this lane pass.
    if (!(await world.budget.take(lane, signal))) return stopped;
    const found = await library.get(videoId, signal, lane);
    const failure = found.ok ? null : await world.failed(found.failure, signal);
    if (failure?.kind === 'gone') return finish(row, videoId);
    if (!found.ok) return failure;
    if (!hash.ok || hash.value !== facts.sha256) return keep(row, onlyCopy);
    const edits = handEdits(facts, found.value);
    if (edits.length > 0) return keep(row, `edited on the service since: ${edits.join(', ')}`);
    if (await isShared(videoId)) return keep(row, sharedVideo);
    // The request may have waited an hour for the limit. The DELETE uses the share that is kept for finishing.
    const away = await local.check(facts);
    if (away !== null) return isAway(away) ? keep(row, onlyCopy) : away;
    if (isStopped()) return null;
    await mark(row, videoId);
    await row.confirm();
    return (await deleteVideo(videoId, signal, { host, priority: 'finish' })) ?? finish(row, videoId);
  };

  const setBack = (id: string, failure: Failure): void => {
    waitsFor = failure.message;
    backoffs.retryAfter(id, failure);
    if (failure.code !== folderAway) misses += 1;
    if (misses >= mostMisses) backoffs.retryAfter(all, failure);
  };

  /** @returns whether the video is dealt with */
  const goOn = async (id: string, videoId: string, signal: AbortSignal): Promise<boolean> => {
    const answer = await rows.claim(id, async (row) => {
      const failure = await one(row, videoId, signal);
      return { failure: failure?.kind === 'permanent' ? await keep(row, failure.message) : failure };
    });
    if (answer === null || signal.aborted) return false;
    if (answer.failure !== null) setBack(id, answer.failure);
    else [misses, waitsFor] = [0, null];
    return answer.failure === null;
  };

  return {
    run: async (signal: AbortSignal): Promise<void> => {
      const remaining = await recall();
      for (const [id, videoId] of remaining) {
        if (signal.aborted || backoffs.isBackingOff(all)) return;
        if (!backoffs.isBackingOff(id) && (await goOn(id, videoId, signal))) remaining.delete(id);
      }
      if (remaining.size === 0 && run?.ended_at === null) await save({ ...run, ended_at: clock.now() });
    },
    /** @returns why an upload cannot be taken back, as far as that is known without a request; null: it can */
    whyNot: async (facts: Facts): Promise<string | null> => {
      const refusal = refusalOf(facts) ?? ((await isShared(facts.videoId ?? '')) ? sharedVideo : null);
      const away = refusal === null ? await local.check(facts) : null;
      return refusal ?? (away !== null && isAway(away) ? onlyCopy : (away?.message ?? null));
    },
    /** Begins a run. @returns false: another one is not over yet */
    start: async (files: TakeBackRun['files'], by: string): Promise<boolean> => {
      const remaining = await recall();
      if (isStarting || remaining.size > 0) return false;
      isStarting = true;
      const begun = { at: clock.now(), by, files, kept: [], stopped_by: null, ended_at: null };
      // The round sees the run only once it is durable.
      await store.saveNote(world.takeBackNote, begun).finally(() => (isStarting = false));
      run = begun;
      for (const [id, videoId] of files) remaining.set(id, videoId);
      world.wake();
      return true;
    },
    /** Ends the run after the video that is being deleted. @returns false: there is none */
    stop: async (by: string): Promise<boolean> => {
      await recall();
      if (run === null || run.ended_at !== null || run.stopped_by !== null) return false;
      await save({ ...run, stopped_by: by });
      return true;
    },
    /** Reads the list of the service for these videos, up to `mostPages`. */
    look: (ids: readonly string[], signal: AbortSignal): Promise<Walked> =>
      new ListWalk().read(new Set(ids), library, signal, mostPages(ids.length)),
    progress: async (): Promise<TakeBackProgress | null> => {
      const remaining = await recall();
      if (run === null) return null;
      const { files, ...others } = run;
      const found = await store.rows({ group: 'any', where: { ids: files.map(([id]) => id) } });
      const videos = new Map(found.map(({ id, videoId }) => [id, videoId]));
      const taken = files.filter(([id, videoId]) => videos.get(id) !== videoId).length;
      const undone = files.filter(([id]) => remaining.has(id)).length;
      return { ...others, files: files.length, taken, left: undone, waits_for: waitsFor };
    },
  };
}

/** Maximum number of pages to read: the list may begin with other videos, or with the oldest. */
export function mostPages(videos: number): number {
  return Math.ceil(videos / 100) + 2;
}

export function feedsWith({ published, plan }: Pick<Facts, 'published' | 'plan'>): ReadonlySet<string> {
  return new Set([...Object.keys(published), ...(plan?.publish ?? [])]);
}

const onlyCopy = 'its local copy is gone or changed, so the video is the only copy';
const sharedVideo = 'another file has the same video';

/** @returns why an upload is never taken back, or not yet; null: its row gives no reason */
function refusalOf(facts: Facts): string | null {
  const { end, videoId, sourceUrl, amendment, disposal } = facts;
  if (end === null && !mayHaveArrived(facts))
    return 'not sent yet: `dropcast ignore` stops it, or wait until it is done';
  if (end === null) return 'not done yet: wait until it is';
  if (end !== 'done' || videoId === null)
    return `${end}: only finished uploads are taken back; \`dropcast videos delete ID\` deletes its video`;
  if (sourceUrl !== null) return 'imported: only the service has its content';
  if (!mayBeTakenBack(facts)) return 'adopted: dropcast did not upload it';
  if (amendment !== null) return 'its new metadata is not sent yet: wait until it is';
  return disposal === 'deleted' ? onlyCopy : null;
}
