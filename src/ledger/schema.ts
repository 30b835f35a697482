import type { GeneratedAlways } from 'kysely';

/** One row per file: `Facts` with structured parts as JSON text, and the derived state and urgency for the indexes. */
export interface FileTable {
  seq: GeneratedAlways<number>;
  id: string;
  rev: number;
  state: string;
  folder: string;
  path: string;
  dev: string;
  ino: string;
  birthtime_ns: string;
  size: number;
  mtime_ns: string;
  ctime_ns: string;
  source_url: string | null;
  plan: string | null;
  on_duplicate: string;
  after_ready: string;
  discovered_at: number;
  first_at: number | null;
  /** `urgencyOf` the facts; 0: none. */
  urgency: number;
  intent: string | null;
  suspects: string;
  video_id: string | null;
  upload_url: string | null;
  upload_headers: string | null;
  upload_session: string | null;
  created_at: number | null;
  upload_started_at: number | null;
  sha256: string | null;
  uploaded_at: number | null;
  processing_since: number | null;
  address_dead_at: number | null;
  dying: number;
  replacements: number;
  remote_status: string | null;
  ready_at: number | null;
  embed_url: string | null;
  published: string;
  attempts: number;
  not_before: number | null;
  end: string | null;
  why: string | null;
  last_failure: string | null;
  ended_at: number | null;
  amendment: string | null;
  disposal: string | null;
  owner: string | null;
  link_file: string | null;
  /** Checksum of all columns except `seq` and this one; see `checksumOf`. Null in PostgreSQL. */
  checksum: number | null;
}

/** Append-only: every state change of every file, with its reason. */
export interface HistoryTable {
  seq: GeneratedAlways<number>;
  file_id: string;
  at: number;
  state: string;
  note: string | null;
  checksum: number | null;
  /** The failure that the line reports: `AttemptFailure` as JSON. */
  failure: string | null;
}

/** Single row with the ledger's identity, for the marks in watched folders. A copy of a ledger keeps the identity. */
export interface IdentityTable {
  id: number;
  ledger: string;
  /** 1 in the files in `backups/`. A ledger opened with this value is a restored copy and may lack recent changes. */
  is_copy: number;
  /** Increases before a folder's mark records new files: see `MarkCounter`. */
  counter: number;
}

/** Single row with the requests of the last hour. */
export interface BudgetTable {
  id: number;
  spent: string;
}

/** One row for each token in any file's `intent` or `suspects`: what was requested, and when. */
export interface CreateRequestTable {
  token: string;
  file_id: string;
  title: string;
  at: number;
}

/** Append-only: a row for each unneeded record, written just before the record is deleted. */
export interface DeletionTable {
  video_id: string;
  at: number;
}

/** One JSON record for each watched folder. */
export interface RootTable {
  folder: string;
  record: string;
}

/** One row for each folder that dropcast was ever told to watch: see `FirstStartRecord`. */
export interface FirstStartTable {
  folder: string;
  asked_ns: string;
  began_ns: string | null;
  is_over: number;
  is_adopted: number;
}

/** A video on the service that a file from before the first start may match. */
export interface ListedVideoTable {
  id: string;
  title: string;
  duration: number | null;
  status: string;
}

/** Single row with the progress of reading the video list. */
export interface ListingTable {
  id: number;
  next_page: number;
  total: number | null;
  is_whole: number;
}

/** One row for each video on the service that the last audit listed. */
export interface AuditVideoTable {
  id: string;
  title: string;
  channel: string | null;
  duration: number | null;
  status: string;
  /** 1: a row has this video. */
  is_known: number;
}

/** Findings of the last audit about files: see `AuditFinding`. */
export interface AuditFindingTable {
  kind: string;
  file_id: string;
  note: string | null;
}

/** One row for each pause that a person set. The folder '' means everything. */
export interface PauseTable {
  folder: string;
  since: number;
  until: number | null;
  by: string;
}

/**
 * One row for each feed to publish even though no file is waiting for it: its videos changed, or a person requested it.
 */
export interface FeedDueTable {
  feed: string;
  first_at: number;
  last_at: number;
  /** 1: publish immediately. */
  is_now: number;
}

/** One row for each message that a target has not accepted yet: see `OutboxRow`. */
export interface OutboxTable {
  seq: GeneratedAlways<number>;
  target: string;
  message: string;
  at: number;
  tried_at: number | null;
  refusals: number;
}

/** Named JSON records: the memory of notifications, and the notes of `NoteStore`. */
export interface NewsMemoryTable {
  name: string;
  record: string;
}

/** Events that are not about a file, as JSON lines: pauses, folders, feeds, reloads. */
export interface EventTable {
  seq: GeneratedAlways<number>;
  /** The host where the event happened. */
  host: string;
  at: number;
  line: string;
}

/** The files counted for each expectation. A file that is moved later stays counted. */
export interface ExpectedFileTable {
  expectation: string;
  file_id: string;
  at: number;
}

export interface LedgerTables {
  file: FileTable;
  history: HistoryTable;
  budget: BudgetTable;
  create_request: CreateRequestTable;
  deletion: DeletionTable;
  identity: IdentityTable;
  root: RootTable;
  first_start: FirstStartTable;
  listed_video: ListedVideoTable;
  listing: ListingTable;
  audit_video: AuditVideoTable;
  audit_finding: AuditFindingTable;
  pause: PauseTable;
  feed_due: FeedDueTable;
  outbox: OutboxTable;
  news_memory: NewsMemoryTable;
  expected_file: ExpectedFileTable;
  event: EventTable;
}
