import { feedsToPublish, stateOf, suspectsOf } from '../../src/pipeline/file/facts.ts';
import type { FileVersion } from '../../src/pipeline/file/file-version.ts';
import type { End, Facts, FileState } from '../../src/pipeline/file/facts.ts';
import { onReturn } from '../../src/intake/stopped-files.ts';
import { isHeldUnread, missingFeed } from '../../src/pipeline/file/reasons.ts';
import { queuedOf } from '../../src/pipeline/file/queue.ts';
import type { Queued } from '../../src/pipeline/file/queue.ts';
import type { HostedVideo } from '../../src/pipeline/file/failure.ts';
import type { OperatorPause } from '../../src/pipeline/events.ts';
import { StaleRowError } from '../../src/pipeline/file/ports.ts';
import type {
  AmendStore,
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
  LeftoverStore,
  PauseStore,
  PublishStore,
  PutAwayStore,
  QueueStore,
  RetentionStore,
  FullMark,
  SeenFolders,
  UnansweredCreate,
} from '../../src/pipeline/file/ports.ts';

type Stores = FileStore &
  QueueStore &
  Claims &
  PublishStore &
  FeedStore &
  PauseStore &
  PutAwayStore &
  RetentionStore &
  AmendStore &
  IntakeStore &
  FirstStartStore &
  AdoptionStore &
  LeftoverStore;

/** The durable rows, in memory. It passes the same contract as the ledger (test/ledger/store-contract.ts). */
export class MemoryStore implements Stores {
  readonly rows: Facts[] = [];
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

  /** @param now epoch milliseconds */
  constructor(rows: readonly Facts[] = [], now: () => number = Date.now) {
    this.#now = now;
    for (const facts of rows) {
      this.rows.push(facts);
      this.#noteRequests(facts);
    }
  }

  /** The row of an id that a test knows to be there. */
  row(id = 'f_1'): Facts {
    const found = this.rows.find((facts) => facts.id === id);
    if (found === undefined) throw new Error(`no row ${id}`);
    return found;
  }

  states(): string[] {
    return this.rows.map(stateOf);
  }

  load(id: string): Promise<Facts | null> {
    return Promise.resolve(this.rows.find((facts) => facts.id === id) ?? null);
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
    const index = this.rows.findIndex(({ id }) => id === facts.id);
    const before = this.rows[index];
    if (before?.rev !== facts.rev) throw new StaleRowError(`expected revision ${facts.rev}, found ${before?.rev}`);
    const saved = { ...facts, rev: facts.rev + 1 };
    this.rows[index] = saved;
    this.#noteRequests(saved);
    this.history.push({ id: facts.id, state: stateOf(saved), note });
    return saved;
  }

  due(state: FileState, now: number, limit: number): Promise<readonly Facts[]> {
    const due = this.rows.filter((facts) => stateOf(facts) === state);
    if (state !== 'retrying') return Promise.resolve(due.slice(0, limit));
    const byDeadline = due
      .filter(({ notBefore }) => (notBefore ?? 0) <= now)
      .toSorted((one, other) => (one.notBefore ?? 0) - (other.notBefore ?? 0));
    return Promise.resolve(byDeadline.slice(0, limit));
  }

  heads(state: 'queued' | 'awaiting upload', each: number, without: readonly string[]): Promise<readonly Queued[]> {
    const counts = new Map<string, number>();
    const heads = this.rows.filter((facts) => {
      if (stateOf(facts) !== state || without.includes(facts.id)) return false;
      const { folder, priority, isBig } = queuedOf(facts);
      const queue = `${folder} ${priority} ${isBig}`;
      const before = counts.get(queue) ?? 0;
      counts.set(queue, before + 1);
      return before < each;
    });
    return Promise.resolve(heads.map(queuedOf));
  }

  lastStarts(limit: number): Promise<readonly Queued[]> {
    const started = this.history.filter(({ state }) => state === 'awaiting upload').toReversed();
    return Promise.resolve(started.slice(0, limit).map(({ id }) => queuedOf(this.row(id))));
  }

  count(...states: readonly FileState[]): Promise<number> {
    return Promise.resolve(this.rows.filter((facts) => states.includes(stateOf(facts))).length);
  }

  twins(facts: Facts, passing: readonly string[]): Promise<readonly Facts[]> {
    const found = this.rows.findIndex(({ id }) => id === facts.id);
    const own = found === -1 ? Infinity : found;
    const isTwin = (twin: Facts, index: number): boolean => {
      if (twin.id === facts.id || twin.version.size !== facts.version.size || twin.sourceUrl !== null) return false;
      if (stands(twin)) return true;
      const goesFirst = index < own || (twin.videoId !== null && !twin.dying) || passing.includes(twin.id);
      return goesFirst && ['queued', 'awaiting upload', 'retrying'].includes(stateOf(twin));
    };
    return Promise.resolve(this.rows.filter(isTwin));
  }

  stranded(twin: string | null): Promise<readonly Facts[]> {
    const isStranded = ({ end, lastFailure }: Facts): boolean => {
      if (end !== 'skipped' || lastFailure?.twin === undefined || lastFailure.twin !== (twin ?? lastFailure.twin))
        return false;
      const found = this.rows.find(({ id }) => id === lastFailure.twin);
      return found === undefined || !stands(found);
    };
    return Promise.resolve(this.rows.filter(isStranded));
  }

  waiting(): Promise<readonly FeedBatch[]> {
    const waiting = this.rows.filter((facts) => stateOf(facts) === 'awaiting publish');
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

  isExpecting(feed: string): Promise<boolean> {
    const underWay = new Set(['queued', 'awaiting upload', 'processing']);
    const isExpected = (facts: Facts): boolean =>
      underWay.has(stateOf(facts)) && (facts.plan?.publish.includes(feed) ?? false);
    return Promise.resolve(this.rows.some(isExpected));
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

  async countUnfinished(paused: readonly string[]): Promise<number> {
    const isLeft = (facts: Facts): boolean => {
      const state = stateOf(facts);
      if (['processing', 'awaiting publish'].includes(state)) return true;
      return ['queued', 'awaiting upload', 'retrying'].includes(state) && !paused.includes(facts.folder);
    };
    return this.rows.filter(isLeft).length;
  }

  toDispose(limit: number, seen?: SeenFolders): Promise<readonly Facts[]> {
    const pending = this.rows.filter((facts) => facts.disposal === 'pending' && isSeen(facts, seen));
    return Promise.resolve(pending.slice(0, limit));
  }

  waitingForDisk(limit: number, seen?: SeenFolders): Promise<readonly Facts[]> {
    const waiting = this.rows.filter((facts) => facts.disposal === 'waiting' && isSeen(facts, seen));
    return Promise.resolve(waiting.toReversed().slice(0, limit));
  }

  async expired(now: number, folders: readonly string[], limit: number): Promise<readonly Facts[]> {
    const dueOf = ({ endedAt, afterReady }: Facts): number =>
      (endedAt ?? 0) + (laterOf(afterReady)?.afterMs ?? Infinity);
    return this.rows
      .filter((facts) => facts.disposal === 'later' && folders.includes(facts.folder) && dueOf(facts) <= now)
      .toSorted((one, other) => dueOf(one) - dueOf(other))
      .slice(0, limit);
  }

  async fullMarks(folders: readonly string[]): Promise<readonly FullMark[]> {
    const marks = this.rows
      .filter(({ disposal, folder }) => disposal === 'later' && folders.includes(folder))
      .flatMap(({ folder, afterReady }) => {
        const whenFull = laterOf(afterReady)?.whenFull ?? null;
        return whenFull === null ? [] : [{ folder, whenFull }];
      });
    return [...new Map(marks.map((mark) => [JSON.stringify(mark), mark])).values()];
  }

  async oldestKept({ folder, whenFull }: FullMark, limit: number, without = 0): Promise<readonly Facts[]> {
    return this.rows
      .filter((facts) => facts.disposal === 'later' && facts.folder === folder)
      .filter(({ afterReady }) => laterOf(afterReady)?.whenFull === whenFull)
      .toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0))
      .slice(without, without + limit);
  }

  toAmend(limit: number): Promise<readonly Facts[]> {
    const states = new Set(['processing', 'awaiting publish', 'done']);
    const isDue = (facts: Facts): boolean =>
      facts.amendment !== null && facts.videoId !== null && !facts.dying && states.has(stateOf(facts));
    return Promise.resolve(this.rows.filter(isDue).slice(0, limit));
  }

  atPath(folder: string, path: string): Promise<Facts | null> {
    const rows = this.rows.filter((facts) => facts.folder === folder && facts.path === path);
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
    return Promise.resolve(this.rows.findLast(isThere) ?? null);
  }

  async insert(facts: Facts): Promise<void> {
    this.rows.push(facts);
    this.#noteRequests(facts);
  }

  unanswered(): Promise<readonly UnansweredCreate[]> {
    const all = this.rows.flatMap(suspectsOf).flatMap((token) => this.#asked.get(token) ?? []);
    return Promise.resolve(all.toSorted((one, other) => one.at - other.at || (one.token < other.token ? -1 : 1)));
  }

  abandoned(ends: readonly End[], limit: number): Promise<readonly Facts[]> {
    const isAbandoned = ({ end, videoId, uploadedAt, remoteStatus, lastFailure }: Facts): boolean =>
      end !== null &&
      ends.includes(end) &&
      videoId !== null &&
      uploadedAt === null &&
      !['processing', 'ready', 'failed'].includes(remoteStatus ?? '') &&
      lastFailure?.kind !== 'gone' &&
      this.rows.filter((other) => other.videoId === videoId).length === 1;
    return Promise.resolve(this.rows.filter(isAbandoned).slice(0, limit));
  }

  async hasVideo(wanted: string): Promise<boolean> {
    return this.rows.some(({ videoId }) => videoId === wanted);
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

  async toCompare(limit: number): Promise<readonly Facts[]> {
    return (await this.toAdopt()).filter(({ lastFailure }) => lastFailure?.likeness === undefined).slice(0, limit);
  }

  async toAdopt(): Promise<readonly Facts[]> {
    return this.rows.filter(({ end, lastFailure }) => end === 'held' && lastFailure?.code === 'existing');
  }

  async countToAdopt(): Promise<{ readonly files: number; readonly compared: number }> {
    const files = await this.toAdopt();
    return { files: files.length, compared: files.length - (await this.toCompare(files.length)).length };
  }

  async listing(): Promise<Listing | null> {
    return this.#listing;
  }

  async addListed(videos: readonly HostedVideo[], listing: Listing): Promise<void> {
    for (const video of videos) this.#listed.set(video.id, video);
    this.#listing = listing;
  }

  async listed(): Promise<readonly HostedVideo[]> {
    return [...this.#listed.values()].filter(({ id }) => this.rows.every(({ videoId }) => videoId !== id));
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
    const paths = this.rows.filter((facts) => facts.folder === folder).map(({ path }) => path);
    return Promise.resolve([...new Set(paths)].filter((path) => path === stem || path.startsWith(`${stem}.`)));
  }

  stoppedByDisk(folder: string, after: string, most: number): Promise<readonly Facts[]> {
    const isOne = (facts: Facts): boolean =>
      facts.folder === folder && facts.id > after && (onReturn(facts) !== null || isHeldUnread(facts));
    const byId = this.rows.filter(isOne).toSorted((one, other) => (one.id < other.id ? -1 : 1));
    return Promise.resolve(byId.slice(0, most));
  }

  unrouted(): Promise<readonly Facts[]> {
    const isOne = ({ plan, lastFailure }: Facts): boolean => plan === null || lastFailure?.kind === 'mismatch';
    const waits = ({ lastFailure }: Facts): boolean => lastFailure?.code === 'unknown_channel';
    const isUnrouted = (facts: Facts): boolean =>
      stateOf(facts) === 'held' ? isOne(facts) : stateOf(facts) === 'retrying' && waits(facts);
    return Promise.resolve(this.rows.filter(isUnrouted));
  }
}

function isSeen({ folder }: Facts, seen: SeenFolders | undefined): boolean {
  if (seen === undefined) return true;
  return seen.names.includes(folder) || (folder.startsWith(seen.below) && !seen.without.includes(folder));
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
