import type { HashName } from '../../routing/checksum-file.ts';
import type { Checksum, Digests } from './checksums.ts';
import type { FileVersion } from './file-version.ts';
import type { Facts, UploadSession } from './facts.ts';
import type { Failure, HostedVideo } from './failure.ts';
import type { Queued } from './queue.ts';
import type { RequestRoom } from '../estimate.ts';
import type { EventRow, NameKind, OperatorPause } from '../events.ts';

/** Result of an operation that may fail. Expected failures are values; only bugs are thrown. */
export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

/** Thrown by `save` if another worker has written the row since its facts were read. Nothing was written. */
export class StaleRowError extends Error {
  override readonly name = 'StaleRowError';
}

/**
 * Thrown by `insert` if another host has just written a row for the same version at the same path. Nothing was written;
 * the caller looks again and finds that row.
 */
export class AlreadyKnownError extends Error {
  override readonly name = 'AlreadyKnownError';
}

/** Folders whose files one host can read, by the names that rows use. */
export interface SeenFolders {
  readonly names: readonly string[];
  /** Name prefix of other folders that the host can read. */
  readonly below: string;
  /** Names with that prefix that are excluded. */
  readonly without: readonly string[];
}

/** The durable rows. Every write is on disk by the time its promise resolves. */
export interface FileStore {
  load(id: string): Promise<Facts | null>;
  /**
   * Writes the row and, if the state changed or there is a note, a line of its history, in one transaction.
   * @returns the facts with the new `rev`
   * @throws {StaleRowError} if `facts.rev` is not the row's revision
   */
  save(facts: Facts, note?: string): Promise<Facts>;
}

/**
 * Candidates for the next slot. Files with the same folder, priority and size class form a queue, and the urgent ones of
 * them another.
 */
export interface QueueStore {
  /**
   * Returns the first files of each queue in this state: the most urgent, otherwise the oldest.
   *
   * @param each maximum number per queue
   * @param without ids of files that were already taken
   */
  heads(state: 'queued' | 'awaiting upload', each: number, without: readonly string[]): Promise<readonly Queued[]>;
  /** Returns the files that were started last, newest first. */
  lastStarts(limit: number): Promise<readonly Queued[]>;
}

/**
 * Claims on files: each file is held by at most one worker. A single-process ledger keeps them in memory; a ledger
 * shared by several hosts uses leases.
 */
export interface Claims {
  claim(id: string): Promise<Claim | null>;
}

export interface Claim {
  /** The row at the time the claim was granted. */
  readonly facts: Facts;
  /** Fires when another worker has, or may have, the file. Stop, and write nothing more. */
  readonly lost: AbortSignal;
  /** Proves that the claim is still held at this moment. False: the claim is lost. */
  renew(): Promise<boolean>;
  /**
   * Marks that an upload is in progress. Until the next `renew`, only proof that another worker has the file ends the
   * claim; a missing answer does not.
   */
  sends(): void;
  /** Releases the file. Further calls do nothing. */
  release(): Promise<void>;
}

/** What this host knows about other hosts' work on the same rows. */
export interface Elsewhere {
  isHeld(id: string): boolean;
  /**
   * Obtains the SHA-256 of a file that only another host can read, by asking that host. Null: this host can read the
   * file, or no running host can.
   */
  hashOf(facts: Facts, signal: AbortSignal): Promise<string | null>;
}

/** The turn to do work that only one host of a fleet may do at a time. */
export interface Turn {
  /** Fires when the turn passes to another host; null if another host has it. */
  signal(): AbortSignal | null;
}

/** The turn of a single host, which never ends. */
export const alwaysOurs: Turn = { signal: () => never };

const never = new AbortController().signal;

/**
 * The hosted service as needed during the life of a file. A request without a priority finishes work that has begun.
 */
export interface VideoHost {
  /**
   * Sends one request and never repeats it. The signal never fires while the request is in progress, so the answer is
   * always awaited.
   */
  create(facts: Facts, token: string, signal: AbortSignal): Promise<Answer<CreatedRecord>>;
  /** Returns the service's status word, or a failure of kind `gone` if the service does not know the video. */
  status(videoId: string, signal: AbortSignal, priority?: RequestPriority): Promise<Answer<string>>;
  send(facts: Facts, hooks: SendHooks): Promise<Answer<{ readonly sha256: string }>>;
  /** Requests deletion. A video that is already gone counts as deleted. */
  remove(videoId: string, signal: AbortSignal, priority?: RequestPriority): Promise<Answer<null>>;
  amend(facts: Pick<Facts, 'videoId' | 'amendment' | 'path' | 'version'>, signal: AbortSignal): Promise<Answer<null>>;
}

export interface CreatedRecord {
  readonly videoId: string;
  /** Upload address; null for an import. */
  readonly uploadUrl: string | null;
  /** Headers that the upload address requires; absent: none. */
  readonly uploadHeaders?: Facts['uploadHeaders'];
  readonly status: string;
}

export interface SendHooks {
  readonly signal: AbortSignal;
  /** Whether nothing has been sent to the address before. */
  readonly isFirstUse: boolean;
  onProgress(sentBytes: number): void;
  /** Called when the state of an upload that can be continued changes; awaited before bytes are sent. */
  onSession(session: UploadSession): Promise<void>;
  /** Digests of the body to compute in addition to SHA-256. */
  readonly alsoHash: readonly HashName[];
  /**
   * Called before the last part of the body, which leaves only after the promise has resolved (design 5.6).
   * @param also the additional digests, where they could be computed
   */
  beforeLastPart(sha256: string, also?: Digests): Promise<void>;
}

export interface RemoteVideo {
  readonly id: string;
  readonly title?: string;
  /** The service's own status word, verbatim. */
  readonly status: string;
  readonly message?: string;
  /** Epoch milliseconds. */
  readonly createdAt?: number;
  /** Duration in seconds. */
  readonly duration?: number;
  /** Where the video is watched: http or https, without credentials, at most 2,000 characters. */
  readonly embedUrl?: string;
  /** Description, channel and tags: only for a single video, because lists do not contain them (api-spec 2.1). */
  readonly description?: string;
  readonly channel?: string;
  readonly tags?: readonly string[];
}

/** The hosted service as required by the sweep and the publisher. */
export interface VideoLibrary {
  /** Returns one page of the list, of one channel if it is given; pages are numbered from 1. */
  list(page: number, signal: AbortSignal, channel?: string): Promise<Answer<ListedPage>>;
  get(videoId: string, signal: AbortSignal, priority?: RequestPriority): Promise<Answer<RemoteVideo>>;
  publish(feed: string, signal: AbortSignal): Promise<Answer<Published | null>>;
  /** Sends a harmless request to find out whether the service answers at all. */
  probe(signal: AbortSignal): Promise<Answer<null>>;
  names(kind: NameKind, signal: AbortSignal): Promise<Answer<readonly string[]>>;
}

export interface Published {
  /** Number of videos in the feed; null if the service does not report it. */
  readonly videos: number | null;
}

export interface ListedPage {
  readonly videos: readonly RemoteVideo[];
  readonly perPage: number;
  /** Total number of videos, if the service reports it. */
  readonly total: number | null;
}

export interface PublishStore {
  /** Returns the files that are ready and waiting for their feeds, grouped by feed. */
  waiting(): Promise<readonly FeedBatch[]>;
}

/** Feeds that are due for publishing although no file is waiting for them. */
export interface FeedStore {
  feedsDue(): Promise<readonly DueFeed[]>;
  /**
   * Records that a video of the feed has changed, or that the operator wants the feed published. A repeated call
   * advances `lastAt`.
   *
   * @param at epoch milliseconds
   * @param isNow publishes without waiting for other changes
   */
  noteFeedDue(feed: string, at: number, isNow: boolean): Promise<DueFeed>;
  /**
   * Records the service's answer to a publish. The feed is no longer due, unless it was marked due again in the
   * meantime.
   *
   * @param answered.lastAt `lastAt` of the due feed; null if none was due, or it is still due
   * @param event reports the answer; written in the same transaction
   */
  noteFeedAnswer(
    answered: { readonly feed: string; readonly lastAt: number | null },
    event: EventRow | null,
  ): Promise<void>;
}

/** A feed that is due for publishing. Times are epoch milliseconds. */
export interface DueFeed {
  readonly feed: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly isNow: boolean;
}

/** Counts records that dropcast created, for the quota of the service. */
export interface CreatedStore {
  /**
   * Counts the records created at or after this time (epoch milliseconds), by all hosts, and the bytes of their files.
   */
  createdSince(since: number): Promise<{ readonly videos: number; readonly bytes: number }>;
}

/** Small records that survive a restart, and that all hosts of a fleet share. */
export interface NoteStore {
  /** @returns the record, which its owner validates; null if there is none or it is damaged */
  note(name: string): Promise<unknown>;
  /**
   * @param record null: nothing is left to note
   * @param events report the change; written in the same transaction
   */
  saveNote(name: string, record: object | null, events?: readonly (EventRow | null)[]): Promise<void>;
}

/** Pauses set by people: one for each folder, and one for everything. */
export interface PauseStore {
  /** Returns the pauses, oldest first. */
  pauses(): Promise<readonly OperatorPause[]>;
  /** @param event reports the pause; written in the same transaction */
  savePause(pause: OperatorPause, event: EventRow | null): Promise<void>;
  /** @param event reports the end of the pause; written in the same transaction */
  dropPause(folder: string | null, event: EventRow | null): Promise<void>;
}

export interface FeedBatch {
  readonly feed: string;
  readonly ids: readonly string[];
  /** For each file whose row names a feed that the service does not have: its id and that feed. */
  readonly missing: ReadonlyMap<string, string>;
  readonly firstReadyAt: number;
  readonly lastReadyAt: number;
}

/** Local files to be deleted later (`disposal` is `later`), once their disk is full. */
export interface RetentionStore {
  /** Returns each `when_full` (per cent) used by files in these folders, with its folder. */
  fullMarks(folders: readonly string[]): Promise<readonly FullMark[]>;
}

export interface FullMark {
  readonly folder: string;
  readonly whenFull: number;
}

/** A create request with no usable answer so far. The service may hold a record without bytes for it. */
export interface UnansweredCreate {
  readonly token: string;
  readonly fileId: string;
  /** The title requested for the record. */
  readonly title: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Records without bytes that dropcast may have left on the service. */
export interface LeftoverStore {
  /** Returns unanswered create requests, including those in progress, oldest first. */
  unanswered(): Promise<readonly UnansweredCreate[]>;
  /** Records that a record is about to be deleted because nothing needs it. @param at epoch milliseconds */
  noteDeletion(videoId: string, at: number): Promise<void>;
  /** Counts the deletions recorded after `after` and up to `now` (epoch milliseconds). */
  deletionsSince(after: number, now: number): Promise<number>;
}

export interface IntakeStore {
  /** Returns the newest row of a path; a superseded or vanished row only if there is no other. */
  atPath(folder: string, path: string): Promise<Facts | null>;
  /**
   * Returns the newest row of the same version at any path, ignoring superseded rows.
   *
   * @param seen limits the search to these folders, because two disks may use the same inode numbers
   */
  atLocation(version: FileVersion, seen?: SeenFolders): Promise<Facts | null>;
  /**
   * Adds the row of a new file.
   *
   * @param instead id of a row at its path that looks the same but is known to have other content
   * @throws {AlreadyKnownError} if another host has already inserted the same version at the same path
   */
  insert(facts: Facts, instead?: string): Promise<void>;
  /** Returns the paths of rows that equal this path, or this path with an extension. */
  pathsNamed(folder: string, stem: string): Promise<readonly string[]>;
}

/** Progress of a folder's first start. Times are nanoseconds since the epoch. */
export interface FirstStartRecord {
  /** When dropcast first tried to watch the folder, by this machine's clock. */
  readonly askedNs: bigint;
  /** When the folder was first present, by its file system's clock; null if it never was. */
  readonly beganNs: bigint | null;
  readonly isOver: boolean;
  /** An operator recorded the files in the folder as uploaded, because the ledger is an older copy. */
  readonly isAdopted?: true;
}

export interface FirstStartStore {
  /** Null: dropcast never tried to watch the folder. */
  firstStart(folder: string): Promise<FirstStartRecord | null>;
  saveFirstStart(folder: string, record: FirstStartRecord): Promise<void>;
}

export interface Listing {
  /** The next page to read, from 1. */
  readonly nextPage: number;
  /** Total number of videos, if the service reports it. */
  readonly total: number | null;
  readonly isWhole: boolean;
}

/**
 * Rows of files that existed before dropcast watched their folder and wait to be compared with the service's videos,
 * together with the part of the video list that has been read.
 */
export interface AdoptionStore {
  listing(): Promise<Listing | null>;
  /** Adds a page and records the progress of the listing, in one transaction. */
  addListed(videos: readonly HostedVideo[], listing: Listing): Promise<void>;
  /** Returns the listed videos that belong to no file. */
  listed(): Promise<readonly HostedVideo[]>;
  forgetListing(): Promise<void>;
}

/** The current path of a file, and its version there. */
export interface FileAt {
  /** Path relative to the watched folder. */
  readonly path: string;
  readonly version: FileVersion;
}

export interface LocalFiles {
  /**
   * Returns null if the accepted version is still there; otherwise a failure: the file has vanished, has changed or
   * cannot be read, or its folder is unavailable.
   */
  check(facts: Facts): Promise<Failure | null>;
  hash(facts: Facts, signal: AbortSignal, algorithm?: HashName): Promise<Answer<string>>;
  /**
   * Returns the checksums that the sender supplies at this moment. A failure means that there may be more, which cannot
   * be read.
   */
  checksums(facts: Pick<Facts, 'folder' | 'path'>): Promise<Answer<readonly Checksum[]>>;
  /**
   * Deletes or moves a file after `done`, if its content is what was sent. Repeating the call after a crash finishes
   * the work.
   * @param isHosted whether its video is known to be on the service; if false, nothing changes and the failure is
   *   `mustAskFirst`
   * @returns the new location of a moved file, null for a deleted one; with a failure, `file` is its location if it has
   *   been renamed
   */
  dispose(
    facts: Facts,
    signal: AbortSignal,
    isHosted: boolean,
  ): Promise<Answer<FileAt | null> & { readonly file?: FileAt }>;
}

/** The purpose of a request, most urgent first: finish work in progress, create a record, poll. */
export type RequestPriority = 'finish' | 'create' | 'poll';

export interface Budget {
  /**
   * Waits for a request to be allowed. Resolves with true once it may be sent, or with false if the signal fires first.
   */
  take(priority: RequestPriority, signal: AbortSignal): Promise<boolean>;
  /** Returns the number of requests that may be sent, and when. */
  room(): RequestRoom;
}

/**
 * What must survive even the loss of the ledger: enough to rebuild which file has which video. Each entry is on disk by
 * the time its promise resolves.
 */
export interface Receipts {
  append(step: 'bound' | 'uploaded' | 'dying' | 'ready' | 'taken back', facts: Facts): Promise<void>;
}

export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds, for measuring durations. */
  elapsed(): number;
}
