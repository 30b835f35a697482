import type { HashName } from '../../routing/checksum-file.ts';
import type { Checksum, Digests } from './checksums.ts';
import type { FileVersion } from './file-version.ts';
import type { Amendment, Facts, FileState } from './facts.ts';
import type { Failure, HostedVideo } from './failure.ts';
import type { Queued } from './queue.ts';
import type { RequestRoom } from '../estimate.ts';
import type { EventRow, NameKind, OperatorPause } from '../events.ts';

/** An expected failure is a value; only a mistake of ours is thrown. */
export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

/**
 * Thrown by `save` when the row is not the one the facts were made from: another worker wrote it. Nothing was written.
 */
export class StaleRowError extends Error {
  override readonly name = 'StaleRowError';
}

/**
 * Thrown by `insert` when another host has just written a row of the same version at the same place. Nothing was
 * written: the caller looks again, and finds that row.
 */
export class AlreadyKnownError extends Error {
  override readonly name = 'AlreadyKnownError';
}

/** Folders whose files one host can read, by their names in rows. */
export interface SeenFolders {
  readonly names: readonly string[];
  /** And each folder whose name begins with this, */
  readonly below: string;
  /** but for these. */
  readonly without: readonly string[];
}

/** The durable rows. Every write is on disk when its promise resolves. */
export interface FileStore {
  load(id: string): Promise<Facts | null>;
  /**
   * Writes the row and, if the state changed or there is a note, a line of its history, in one transaction.
   * @returns the facts with the new `rev`
   * @throws {StaleRowError} when `facts.rev` is not the row's
   */
  save(facts: Facts, note?: string): Promise<Facts>;
  /**
   * How many are in any of these states, all at one moment.
   *
   * @param paused without files that wait for a step in one of these folders
   */
  count(states: readonly FileState[], paused?: readonly string[]): Promise<number>;
}

/** Whose turn it may be. Files of one folder, priority and size are a queue. */
export interface QueueStore {
  /**
   * The oldest files of each queue in this state.
   *
   * @param each how many of each queue at most
   * @param without ids of files that were taken already
   */
  heads(state: 'queued' | 'awaiting upload', each: number, without: readonly string[]): Promise<readonly Queued[]>;
  /** The last files that were started, newest first. */
  lastStarts(limit: number): Promise<readonly Queued[]>;
}

/**
 * Files held by one worker at a time. A ledger of one process answers from memory; one that several hosts share answers
 * with leases.
 */
export interface Claims {
  /** Takes a file for one worker. Null: another worker holds it, or there is no such file. */
  claim(id: string): Promise<Claim | null>;
}

export interface Claim {
  /** The row as it was when the claim was granted. */
  readonly facts: Facts;
  /** Fires when another worker got the file, or may have: stop, and write nothing more. */
  readonly lost: AbortSignal;
  /** Proves at this moment that it is still held. False: it was lost. */
  renew(): Promise<boolean>;
  /**
   * An upload is under way: until the next `renew`, only proof that another worker has the file ends it, not a missing
   * answer.
   */
  sends(): void;
  /** Gives the file back. Harmless when repeated. */
  release(): Promise<void>;
}

/** What other hosts do with the same rows, as far as this one knows. */
export interface Elsewhere {
  /** Whether one of them works on a file. */
  isHeld(id: string): boolean;
  /**
   * The SHA-256 of a file that only another host can read, by asking it; null: this host can read it, or no running
   * host can.
   */
  hashOf(facts: Facts, signal: AbortSignal): Promise<string | null>;
}

/** Work that only one host of a fleet may do at a time belongs to the host that has the turn. */
export interface Turn {
  /** Fires when the turn goes to another host; null: another host has it. */
  signal(): AbortSignal | null;
}

/** The turn of a single host. */
export const alwaysOurs: Turn = { signal: () => never };

const never = new AbortController().signal;

/**
 * The hosted service as the life of a file needs it. Without a priority a request is there to finish what was begun.
 */
export interface VideoHost {
  /** One request, never repeated. The signal never fires once the request is under way: its answer is waited for. */
  create(facts: Facts, token: string, signal: AbortSignal): Promise<Answer<CreatedRecord>>;
  /** The status word, or the failure kind `gone` when the service does not know the video. */
  status(videoId: string, signal: AbortSignal, priority?: RequestPriority): Promise<Answer<string>>;
  send(facts: Facts, hooks: SendHooks): Promise<Answer<{ readonly sha256: string }>>;
  /** Asks for deletion; a video that is already away counts as success. */
  remove(videoId: string, signal: AbortSignal, priority?: RequestPriority): Promise<Answer<null>>;
  amend(videoId: string, amendment: Amendment, signal: AbortSignal): Promise<Answer<null>>;
}

export interface CreatedRecord {
  readonly videoId: string;
  /** Null for an import. */
  readonly uploadUrl: string | null;
  /** Headers that the upload address needs; missing: none. */
  readonly uploadHeaders?: Facts['uploadHeaders'];
  readonly status: string;
}

export interface SendHooks {
  readonly signal: AbortSignal;
  /** Whether nothing was sent to the address before. */
  readonly isFirstUse: boolean;
  onProgress(sentBytes: number): void;
  /** Digests of the body to compute in addition to SHA-256. */
  readonly alsoHash: readonly HashName[];
  /**
   * The last part of the body leaves only after this has resolved (design 5.6).
   * @param also what else was computed of the body, where that was possible
   */
  beforeLastPart(sha256: string, also?: Digests): Promise<void>;
}

/** One video as the service describes it. */
export interface RemoteVideo {
  readonly id: string;
  readonly title?: string;
  /** The service's own word, kept as given. */
  readonly status: string;
  readonly message?: string;
  /** Epoch milliseconds. */
  readonly createdAt?: number;
  /** Seconds. */
  readonly duration?: number;
}

/** The hosted service as the sweep and the publisher need it. */
export interface VideoLibrary {
  /** Pages are numbered from 1. */
  list(page: number, signal: AbortSignal): Promise<Answer<ListedPage>>;
  get(videoId: string, signal: AbortSignal): Promise<Answer<RemoteVideo>>;
  publish(feed: string, signal: AbortSignal): Promise<Answer<Published | null>>;
  /** A harmless request: does the service answer at all? */
  probe(signal: AbortSignal): Promise<Answer<null>>;
  /** Ids of all channels or feeds of the account. */
  names(kind: NameKind, signal: AbortSignal): Promise<Answer<readonly string[]>>;
}

/** The service's answer to a publish. */
export interface Published {
  /** In the feed; null: it does not say. */
  readonly videos: number | null;
}

export interface ListedPage {
  readonly videos: readonly RemoteVideo[];
  /** Videos on a full page. */
  readonly perPage: number;
  /** Number of all videos, if the service states it. */
  readonly total: number | null;
}

/** Rows as the publisher needs them. */
export interface PublishStore {
  /** Files that are ready and wait for their feeds, grouped by feed. */
  waiting(): Promise<readonly FeedBatch[]>;
  /** Whether more files are on their way to this feed. */
  isExpecting(feed: string): Promise<boolean>;
}

/** The feeds that are to be published although no file waits for them. */
export interface FeedStore {
  feedsDue(): Promise<readonly DueFeed[]>;
  /**
   * A video of the feed has changed, or a person wants it to be published. Repeating it moves `lastAt` on.
   *
   * @param at epoch milliseconds
   * @param isNow it does not wait for others
   */
  noteFeedDue(feed: string, at: number, isNow: boolean): Promise<DueFeed>;
  /**
   * The service has answered a publish: the feed is due no longer, unless it was noted again since.
   *
   * @param answered.lastAt of what was due; null: nothing was, or it is still due
   * @param event reports the answer; written in the same transaction
   */
  noteFeedAnswer(
    answered: { readonly feed: string; readonly lastAt: number | null },
    event: EventRow | null,
  ): Promise<void>;
}

/** Times are epoch milliseconds. */
export interface DueFeed {
  readonly feed: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly isNow: boolean;
}

/** The pauses that people set, one for each folder and one of everything. */
export interface PauseStore {
  /** Oldest first. */
  pauses(): Promise<readonly OperatorPause[]>;
  /** @param event reports the pause; written in the same transaction */
  savePause(pause: OperatorPause, event: EventRow | null): Promise<void>;
  /** @param event reports its end; written in the same transaction */
  dropPause(folder: string | null, event: EventRow | null): Promise<void>;
}

export interface FeedBatch {
  readonly feed: string;
  readonly ids: readonly string[];
  /** By id, of those whose row says that the service does not have a feed: which one. */
  readonly missing: ReadonlyMap<string, string>;
  readonly firstReadyAt: number;
  readonly lastReadyAt: number;
}

/** Local files that are to be deleted later (`disposal` is `later`) once their disk is full. */
export interface RetentionStore {
  /** Each folder of these and each `when_full` (per cent) that files of it have. */
  fullMarks(folders: readonly string[]): Promise<readonly FullMark[]>;
}

export interface FullMark {
  readonly folder: string;
  readonly whenFull: number;
}

/** A create request that has no usable answer, or none yet: the service may hold a record without bytes for it. */
export interface UnansweredCreate {
  readonly token: string;
  readonly fileId: string;
  /** The requested title of the record. */
  readonly title: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Records that dropcast may have left on the service without bytes. */
export interface LeftoverStore {
  /** Oldest first, those under way included. */
  unanswered(): Promise<readonly UnansweredCreate[]>;
  /** Whether a file has this video. */
  hasVideo(videoId: string): Promise<boolean>;
  /** A record is about to be deleted because nothing needs it. @param at epoch milliseconds */
  noteDeletion(videoId: string, at: number): Promise<void>;
  /** How many were noted after the one time, and not later than now (epoch milliseconds). */
  deletionsSince(after: number, now: number): Promise<number>;
}

/** Rows as the intake needs them. */
export interface IntakeStore {
  /** The newest row of a path; one that was superseded or vanished only if there is no other. */
  atPath(folder: string, path: string): Promise<Facts | null>;
  /**
   * The newest row of the same version, at any place, except for superseded ones.
   *
   * @param seen in these folders only: two disks may number their files alike
   */
  atLocation(version: FileVersion, seen?: SeenFolders): Promise<Facts | null>;
  /**
   * Adds the row of a new file.
   *
   * @param instead id of a row at its path that looks the same, and is known to be other content
   * @throws {AlreadyKnownError} another host was faster with the same version at the same path
   */
  insert(facts: Facts, instead?: string): Promise<void>;
  /** Paths of rows that are this path, or this path with an extension. */
  pathsNamed(folder: string, stem: string): Promise<readonly string[]>;
}

/** How far the first start of a folder is. Times are nanoseconds since the epoch. */
export interface FirstStartRecord {
  /** When dropcast wanted to watch it for the first time, by the clock of this machine. */
  readonly askedNs: bigint;
  /** When it was there for the first time, by the clock of its file system; null while it never was. */
  readonly beganNs: bigint | null;
  /** Every file that was there then has its row. */
  readonly isOver: boolean;
  /** An operator recorded the files that lay there as uploaded, because the ledger is an older copy. */
  readonly isAdopted?: true;
}

/** The durable records of first starts, by folder. */
export interface FirstStartStore {
  /** Null: dropcast never wanted to watch it. */
  firstStart(folder: string): Promise<FirstStartRecord | null>;
  saveFirstStart(folder: string, record: FirstStartRecord): Promise<void>;
}

/** How far the list of the service's videos was read. */
export interface Listing {
  /** The next page to read, from 1. */
  readonly nextPage: number;
  /** Number of all videos, if the service states it. */
  readonly total: number | null;
  readonly isWhole: boolean;
}

/**
 * Rows of files that were there before and wait to be compared with what the service has, and its list as far as it was
 * read.
 */
export interface AdoptionStore {
  listing(): Promise<Listing | null>;
  /** Adds a page, and notes how far the list is read, at once. */
  addListed(videos: readonly HostedVideo[], listing: Listing): Promise<void>;
  /** The videos that were listed and that no file has. */
  listed(): Promise<readonly HostedVideo[]>;
  forgetListing(): Promise<void>;
}

/** Where a file is now, and which version of it. */
export interface FileAt {
  /** Relative to its folder. */
  readonly path: string;
  readonly version: FileVersion;
}

/** The files on this machine. */
export interface LocalFiles {
  /**
   * Null when the accepted version is still there, else `vanished`, `changed`, why it cannot be read, or that its
   * folder is away.
   */
  check(facts: Facts): Promise<Failure | null>;
  hash(facts: Facts, signal: AbortSignal, algorithm?: HashName): Promise<Answer<string>>;
  /** The digests that the sender states at this moment. A failure: there may be further ones, which cannot be read. */
  checksums(facts: Pick<Facts, 'folder' | 'path'>): Promise<Answer<readonly Checksum[]>>;
  /**
   * Deletes or moves after `done`, if the content is what was sent. Repeating it after a crash finishes what was begun.
   * @param isHosted whether its video is known to be on the service; false leaves everything as it is, with the failure
   *   `mustAskFirst`
   * @returns where a moved file now is, null for a deleted one; with a failure, where it is when it has another name
   *   now
   */
  dispose(
    facts: Facts,
    signal: AbortSignal,
    isHosted: boolean,
  ): Promise<Answer<FileAt | null> & { readonly file?: FileAt }>;
}

/** The purpose of a request, most urgent first: to finish work in progress, to create a record, to poll. */
export type RequestPriority = 'finish' | 'create' | 'poll';

/** The hourly allowance of requests. */
export interface Budget {
  /** Resolves with true when the request may go, with false when the signal came first. */
  take(priority: RequestPriority, signal: AbortSignal): Promise<boolean>;
  /** Requests that may leave, and when. */
  room(): RequestRoom;
}

/** What must outlive even the ledger: enough to rebuild who has which video. On disk when its promise resolves. */
export interface Receipts {
  append(step: 'bound' | 'uploaded' | 'dying' | 'ready', facts: Facts): Promise<void>;
}

export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds, for durations. */
  elapsed(): number;
}
