import { feedsToPublish, stateOf, suspectsOf } from '../../src/pipeline/file/facts.ts';
import type { FileVersion } from '../../src/pipeline/file/file-version.ts';
import type { Facts, FileState } from '../../src/pipeline/file/facts.ts';
import { onReturn } from '../../src/intake/stopped-files.ts';
import { isHeldUnread, missingFeed } from '../../src/pipeline/file/reasons.ts';
import { urgencyOf } from '../../src/pipeline/file/urgency.ts';
import { queuedOf } from '../../src/pipeline/file/queue.ts';
import type { Queued } from '../../src/pipeline/file/queue.ts';
import { tooLargeCode } from '../../src/pipeline/file/failure.ts';
import type { HostedVideo } from '../../src/pipeline/file/failure.ts';
import type { OperatorPause } from '../../src/pipeline/events.ts';
import type { RowStore, RowsWanted } from '../../src/pipeline/file/row-groups.ts';
import { StaleRowError } from '../../src/pipeline/file/ports.ts';
import { causeKey } from '../../src/pipeline/file/selection.ts';
import type { CountStore, FileFilter } from '../../src/pipeline/file/selection.ts';
import type {
  Claim,
  Claims,
  DueFeed,
  FeedBatch,
  FeedStore,
  FileStore,
  FirstStartRecord,
  FirstStartStore,
  AdoptionStore,
  Listing,
  IntakeStore,
  CreatedStore,
  LeftoverStore,
  NoteStore,
  PauseStore,
  PublishStore,
  QueueStore,
  RetentionStore,
  FullMark,
  SeenFolders,
  UnansweredCreate,
} from '../../src/pipeline/file/ports.ts';

export type Stores = FileStore &
  CountStore &
  RowStore &
  QueueStore &
  Claims &
  PublishStore &
  FeedStore &
  PauseStore &
  NoteStore &
  RetentionStore &
  IntakeStore &
  FirstStartStore &
  AdoptionStore &
  CreatedStore &
  LeftoverStore;

/** The durable rows, in memory. It passes the same contract as the ledger (test/ledger/store-contract.ts). */
export class MemoryStore implements Stores {
  /** Every row, in the order in which they came. */
  readonly all: Facts[] = [];
  /** Every state a file was saved in, with the note. */
  readonly history: { readonly id: string; readonly state: string; readonly note: string | undefined }[] = [];

  /** Ids that some worker holds. */
  readonly claimed = new Set<string>();

  readonly #now: () => number;
  readonly #asked = new Map<string, UnansweredCreate>();
  #listing: Listing | null = null;
  readonly #listed = new Map<string, HostedVideo>();
  readonly #firstStarts = new Map<string, FirstStartRecord>();
  readonly #deletions = new Map<string, number>();
  readonly #feedsDue = new Map<string, DueFeed>();
  #pauses: readonly OperatorPause[] = [];
  readonly #notes = new Map<string, object>();

  /** @param now epoch milliseconds */
  constructor(rows: readonly Facts[] = [], now: () => number = Date.now) {
    this.#now = now;
    for (const facts of rows) {
      this.all.push(facts);
      this.#noteRequests(facts);
    }
  }

  /** The row of an id that a test knows to be there. */
  row(id = 'f_1'): Facts {
    const found = this.all.find((facts) => facts.id === id);
    if (found === undefined) throw new Error(`no row ${id}`);
    return found;
  }

  states(): string[] {
    return this.all.map(stateOf);
  }

  load(id: string): Promise<Facts | null> {
    return Promise.resolve(this.all.find((facts) => facts.id === id) ?? null);
  }

  async claim(id: string): Promise<Claim | null> {
    const facts = await this.load(id);
    if (facts === null || this.claimed.has(id)) return null;
    this.claimed.add(id);
    let isHeld = true;
    return {
      facts,
      lost: new AbortController().signal,
      renew: async () => isHeld,
      sends: () => undefined,
      release: async () => {
        if (isHeld) this.claimed.delete(id);
        isHeld = false;
      },
    };
  }

  async save(facts: Facts, note?: string): Promise<Facts> {
    const index = this.all.findIndex(({ id }) => id === facts.id);
    const before = this.all[index];
    if (before?.rev !== facts.rev) throw new StaleRowError(`expected revision ${facts.rev}, found ${before?.rev}`);
    const saved = { ...facts, rev: facts.rev + 1 };
    this.all[index] = saved;
    this.#noteRequests(saved);
    this.history.push({ id: facts.id, state: stateOf(saved), note });
    return saved;
  }

  heads(state: 'queued' | 'awaiting upload', each: number, without: readonly string[]): Promise<readonly Queued[]> {
    const counts = new Map<string, number>();
    const urgency = (facts: Facts): number => queuedOf(facts).urgency ?? 0;
    const hasOther = this.all.some((facts) => urgency(facts) !== 0);
    const ordered = hasOther ? this.all.toSorted((one, other) => urgency(one) - urgency(other)) : this.all;
    const heads = ordered.filter((facts) => {
      if (stateOf(facts) !== state || without.includes(facts.id)) return false;
      const { folder, priority, isBig } = queuedOf(facts);
      const queue = `${folder} ${priority} ${isBig} ${urgency(facts) !== 0}`;
      const before = counts.get(queue) ?? 0;
      counts.set(queue, before + 1);
      return before < each;
    });
    return Promise.resolve((hasOther ? this.all.filter((facts) => heads.includes(facts)) : heads).map(queuedOf));
  }

  lastStarts(limit: number): Promise<readonly Queued[]> {
    const started = this.history.filter(({ state }) => state === 'awaiting upload').toReversed();
    return Promise.resolve(started.slice(0, limit).map(({ id }) => queuedOf(this.row(id))));
  }

  async count({ states, feed, videoId, paused = [] }: FileFilter): Promise<number> {
    const waits = (state: FileState): boolean => ['queued', 'awaiting upload', 'retrying'].includes(state);
    const isCounted = (facts: Facts): boolean =>
      (states?.includes(stateOf(facts)) ?? true) &&
      (feed === undefined || facts.plan?.publish.includes(feed) === true) &&
      (videoId === undefined || facts.videoId === videoId) &&
      !(waits(stateOf(facts)) && paused.includes(facts.folder));
    return this.all.filter(isCounted).length;
  }

  async rows(wanted: RowsWanted): Promise<readonly Facts[]> {
    const found = this.#inGroup(wanted);
    return 'limit' in wanted ? found.slice(0, wanted.limit) : found;
  }

  #inGroup(wanted: RowsWanted): readonly Facts[] {
    const all = this.all;
    switch (wanted.group) {
      case 'in state':
        return all.filter((facts) => stateOf(facts) === wanted.state);
      case 'retrying':
        return all
          .filter((facts) => stateOf(facts) === 'retrying' && (facts.notBefore ?? 0) <= wanted.dueBy)
          .toSorted((one, other) => (one.notBefore ?? 0) - (other.notBefore ?? 0));
      case 'due':
        return all
          .filter((facts) => urgencyOf(facts) !== null)
          .toSorted((one, other) => (urgencyOf(one) ?? 0) - (urgencyOf(other) ?? 0));
      case 'twins':
        return this.#twins(wanted);
      case 'stranded':
        return all.filter(({ end, lastFailure }) => {
          if (end !== 'skipped' || lastFailure?.twin === undefined) return false;
          const found = all.find(({ id }) => id === lastFailure.twin);
          return lastFailure.twin === (wanted.twin ?? lastFailure.twin) && (found === undefined || !stands(found));
        });
      case 'to put away':
        return all.filter((facts) => facts.disposal === 'pending' && isSeen(facts, wanted.seen));
      case 'waiting for disk':
        return all.filter((facts) => facts.disposal === 'waiting' && isSeen(facts, wanted.seen)).toReversed();
      case 'expired':
        return all
          .filter(({ disposal, folder }) => disposal === 'later' && wanted.folders.includes(folder))
          .filter((facts) => dueOf(facts) <= wanted.now)
          .toSorted((one, other) => dueOf(one) - dueOf(other));
      case 'crowding':
        return all
          .filter(({ disposal, folder }) => disposal === 'later' && folder === wanted.mark.folder)
          .filter(({ afterReady }) => laterOf(afterReady)?.whenFull === wanted.mark.whenFull)
          .toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0))
          .slice(wanted.without);
      case 'to amend':
        return all.filter(isToBeAmended);
      case 'abandoned':
        return all.filter(
          (facts) =>
            facts.end !== null &&
            wanted.ends.includes(facts.end) &&
            hasEmptyRecord(facts) &&
            all.filter(({ videoId }) => videoId === facts.videoId).length === 1,
        );
      case 'unrouted':
        return all.filter(isUnrouted);
      case 'stopped by disk':
        return all
          .filter(({ folder, id }) => folder === wanted.folder && id > wanted.after)
          .filter((facts) => onReturn(facts) !== null || isHeldUnread(facts))
          .toSorted((one, other) => (one.id < other.id ? -1 : 1));
      case 'too large':
        return all
          .filter(
            ({ end, lastFailure, id }) => end === 'held' && lastFailure?.code === tooLargeCode && id > wanted.after,
          )
          .toSorted((one, other) => (one.id < other.id ? -1 : 1));
      case 'to adopt':
        return all.filter(isToBeAdopted);
      case 'to compare':
        return all.filter((facts) => isToBeAdopted(facts) && facts.lastFailure?.likeness === undefined);
      case 'any': {
        const { where: { ids, states, cause, videoId, since = 0 } = {}, newestFirst } = wanted;
        const isLater = ({ end, discoveredAt, endedAt }: Facts): boolean =>
          end === null || Math.max(discoveredAt, endedAt ?? 0) >= since;
        const found = all
          .filter((facts) => (states?.includes(stateOf(facts)) ?? true) && isLater(facts))
          .filter(({ id }) => ids?.includes(id) ?? true)
          .filter((facts) => cause === undefined || causeKey(facts) === cause)
          .filter((facts) => videoId === undefined || facts.videoId === videoId);
        return newestFirst === true ? found.toReversed() : found;
      }
      default:
        throw new Error(`the pipeline does not ask for ${wanted.group satisfies 'came in'}`);
    }
  }

  #twins({ of, passing }: RowsWanted<'twins'>): readonly Facts[] {
    const found = this.all.findIndex(({ id }) => id === of.id);
    const own = found === -1 ? Infinity : found;
    return this.all.filter((twin, index) => {
      if (twin.id === of.id || twin.version.size !== of.version.size || twin.sourceUrl !== null) return false;
      if (stands(twin)) return true;
      const goesFirst = index < own || (twin.videoId !== null && !twin.dying) || passing.includes(twin.id);
      return goesFirst && ['queued', 'awaiting upload', 'retrying'].includes(stateOf(twin));
    });
  }

  waiting(): Promise<readonly FeedBatch[]> {
    const waiting = this.all.filter((facts) => stateOf(facts) === 'awaiting publish');
    const feeds = new Set(waiting.flatMap(feedsToPublish));
    const batches = [...feeds].map((feed) => {
      const ready = waiting.filter((facts) => feedsToPublish(facts).includes(feed));
      const times = ready.map(({ readyAt }) => readyAt ?? 0);
      const ids = ready.map(({ id }) => id);
      const missing = new Map(
        ready.flatMap((facts) => {
          const name = missingFeed(facts);
          return name === null ? [] : [[facts.id, name] as const];
        }),
      );
      return { feed, ids, missing, firstReadyAt: Math.min(...times), lastReadyAt: Math.max(...times) };
    });
    return Promise.resolve(batches);
  }

  async feedsDue(): Promise<readonly DueFeed[]> {
    return [...this.#feedsDue.values()].toSorted((one, other) => one.firstAt - other.firstAt);
  }

  async noteFeedDue(feed: string, at: number, isNow: boolean): Promise<DueFeed> {
    const before = this.#feedsDue.get(feed);
    const due = {
      feed,
      firstAt: before?.firstAt ?? at,
      lastAt: Math.max(at, (before?.lastAt ?? -Infinity) + 1),
      isNow: isNow || before?.isNow === true,
    };
    this.#feedsDue.set(feed, due);
    return due;
  }

  async noteFeedAnswer({ feed, lastAt }: { readonly feed: string; readonly lastAt: number | null }): Promise<void> {
    if (lastAt !== null && (this.#feedsDue.get(feed)?.lastAt ?? Infinity) <= lastAt) this.#feedsDue.delete(feed);
  }

  async pauses(): Promise<readonly OperatorPause[]> {
    return this.#pauses.toSorted((one, other) => one.since - other.since);
  }

  async savePause(pause: OperatorPause): Promise<void> {
    this.#pauses = [...this.#pauses.filter(({ folder }) => folder !== pause.folder), pause];
  }

  async dropPause(wanted: string | null): Promise<void> {
    this.#pauses = this.#pauses.filter(({ folder }) => folder !== wanted);
  }

  async note(name: string): Promise<unknown> {
    return this.#notes.get(name) ?? null;
  }

  async saveNote(name: string, record: object | null): Promise<void> {
    if (record === null) this.#notes.delete(name);
    else this.#notes.set(name, structuredClone(record));
  }

  async fullMarks(folders: readonly string[]): Promise<readonly FullMark[]> {
    const marks = this.all
      .filter(({ disposal, folder }) => disposal === 'later' && folders.includes(folder))
      .flatMap(({ folder, afterReady }) => {
        const whenFull = laterOf(afterReady)?.whenFull ?? null;
        return whenFull === null ? [] : [{ folder, whenFull }];
      });
    return [...new Map(marks.map((mark) => [JSON.stringify(mark), mark])).values()];
  }

  atPath(folder: string, path: string): Promise<Facts | null> {
    const rows = this.all.filter((facts) => facts.folder === folder && facts.path === path);
    const present = rows.filter((facts) => !['superseded', 'vanished'].includes(stateOf(facts)));
    return Promise.resolve(present.at(-1) ?? rows.at(-1) ?? null);
  }

  atLocation(version: FileVersion, seen?: SeenFolders): Promise<Facts | null> {
    const isThere = (facts: Facts): boolean =>
      facts.version.ino === version.ino &&
      facts.version.birthtimeNs === version.birthtimeNs &&
      facts.version.size === version.size &&
      facts.version.mtimeNs === version.mtimeNs &&
      stateOf(facts) !== 'superseded' &&
      isSeen(facts, seen);
    return Promise.resolve(this.all.findLast(isThere) ?? null);
  }

  async insert(facts: Facts): Promise<void> {
    this.all.push(facts);
    this.#noteRequests(facts);
  }

  unanswered(): Promise<readonly UnansweredCreate[]> {
    const all = this.all.flatMap(suspectsOf).flatMap((token) => this.#asked.get(token) ?? []);
    return Promise.resolve(all.toSorted((one, other) => one.at - other.at || (one.token < other.token ? -1 : 1)));
  }

  async createdSince(since: number): Promise<{ videos: number; bytes: number }> {
    const created = this.all.filter(({ createdAt }) => createdAt !== null && createdAt >= since);
    const deleted = [...this.#deletions.values()].filter((at) => at >= since).length;
    const bytes = created.reduce((sum, { version, sourceUrl }) => sum + (sourceUrl === null ? version.size : 0), 0);
    return { videos: created.length + deleted, bytes };
  }

  async noteDeletion(videoId: string, at: number): Promise<void> {
    this.#deletions.set(videoId, at);
  }

  async deletionsSince(after: number, now: number): Promise<number> {
    return [...this.#deletions.values()].filter((at) => at > after && at <= now).length;
  }

  #noteRequests(facts: Facts): void {
    for (const token of suspectsOf(facts))
      if (!this.#asked.has(token))
        this.#asked.set(token, { token, fileId: facts.id, title: facts.plan?.title ?? facts.path, at: this.#now() });
  }

  async listing(): Promise<Listing | null> {
    return this.#listing;
  }

  async addListed(videos: readonly HostedVideo[], listing: Listing): Promise<void> {
    for (const video of videos) this.#listed.set(video.id, video);
    this.#listing = listing;
  }

  async listed(): Promise<readonly HostedVideo[]> {
    return [...this.#listed.values()].filter(({ id }) => this.all.every(({ videoId }) => videoId !== id));
  }

  async forgetListing(): Promise<void> {
    this.#listed.clear();
    this.#listing = null;
  }

  async firstStart(folder: string): Promise<FirstStartRecord | null> {
    return this.#firstStarts.get(folder) ?? null;
  }

  async saveFirstStart(folder: string, record: FirstStartRecord): Promise<void> {
    this.#firstStarts.set(folder, record);
  }

  pathsNamed(folder: string, stem: string): Promise<readonly string[]> {
    const paths = this.all.filter((facts) => facts.folder === folder).map(({ path }) => path);
    return Promise.resolve([...new Set(paths)].filter((path) => path === stem || path.startsWith(`${stem}.`)));
  }
}

function isSeen({ folder }: Facts, seen: SeenFolders | undefined): boolean {
  if (seen === undefined) return true;
  return seen.names.includes(folder) || (folder.startsWith(seen.below) && !seen.without.includes(folder));
}

function dueOf({ endedAt, afterReady }: Facts): number {
  return (endedAt ?? 0) + (laterOf(afterReady)?.afterMs ?? Infinity);
}

function isToBeAmended(facts: Facts): boolean {
  const { amendment, videoId, dying } = facts;
  return (
    amendment !== null &&
    videoId !== null &&
    !dying &&
    ['processing', 'awaiting publish', 'done'].includes(stateOf(facts))
  );
}

function hasEmptyRecord({ videoId, uploadedAt, remoteStatus, lastFailure }: Facts): boolean {
  return (
    videoId !== null &&
    uploadedAt === null &&
    !['processing', 'ready', 'failed'].includes(remoteStatus ?? '') &&
    lastFailure?.kind !== 'gone'
  );
}

function isUnrouted(facts: Facts): boolean {
  const { plan, lastFailure } = facts;
  const state = stateOf(facts);
  if (state === 'held') return plan === null || lastFailure?.kind === 'mismatch';
  return state === 'retrying' && lastFailure?.code === 'unknown_channel';
}

function isToBeAdopted({ end, lastFailure }: Facts): boolean {
  return end === 'held' && lastFailure?.code === 'existing';
}

function laterOf(afterReady: Facts['afterReady']) {
  return afterReady.kind === 'delete' ? afterReady.later : undefined;
}

function stands(facts: Facts): boolean {
  if (facts.uploadedAt === null || facts.remoteStatus === 'failed') return false;
  if (facts.lastFailure?.over?.kind === 'gone') return false;
  const state = stateOf(facts);
  return state !== 'held' && (state !== 'superseded' || facts.readyAt !== null || facts.remoteStatus === 'ready');
}
