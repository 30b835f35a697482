import type { GeneratedAlways } from 'kysely';

/** One row per file: `Facts` with its structured parts as JSON text, and the state derived from it, for the index. */
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
  intent: string | null;
  suspects: string;
  video_id: string | null;
  upload_url: string | null;
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
  published: string;
  attempts: number;
  not_before: number | null;
  end: string | null;
  why: string | null;
  last_failure: string | null;
  ended_at: number | null;
  amendment: string | null;
  disposal: string | null;
  /** Checksum of all other columns but `seq`, see `checksumOf`. Null in PostgreSQL. */
  checksum: number | null;
}

/** Append-only: every change of state of every file, with its reason. */
export interface HistoryTable {
  seq: GeneratedAlways<number>;
  file_id: string;
  at: number;
  state: string;
  note: string | null;
  checksum: number | null;
  /** What failed, if that is what the line tells: `AttemptFailure` as JSON. */
  failure: string | null;
}

/** One row: which ledger this is, for the mark in the watched folders. A copy of a ledger keeps it. */
export interface IdentityTable {
  id: number;
  ledger: string;
  /** 1 in the files of `backups/`: what is opened with it was put back, and may be older than what happened. */
  is_copy: number;
  /** Grows whenever a mark is to say that files were taken in: see `MarkCounter`. */
  counter: number;
}

/** One row: the requests of the last hour. */
export interface BudgetTable {
  id: number;
  spent: string;
}

/** One row for each token in `intent` and `suspects` of all files: what was asked for, and when. */
export interface CreateRequestTable {
  token: string;
  file_id: string;
  title: string;
  at: number;
}

/** Append-only: records that nothing needed any more, just before each was deleted. */
export interface DeletionTable {
  video_id: string;
  at: number;
}

/** What is remembered of each watched folder itself, as JSON. */
export interface RootTable {
  folder: string;
  record: string;
}

/** One row for each folder that dropcast ever wanted to watch: see `FirstStartRecord`. */
export interface FirstStartTable {
  folder: string;
  asked_ns: string;
  began_ns: string | null;
  is_over: number;
  is_adopted: number;
}

/** A video of the service, for the files that may be it. */
export interface ListedVideoTable {
  id: string;
  title: string;
  duration: number | null;
  status: string;
}

/** One row: how far the list was read. */
export interface ListingTable {
  id: number;
  next_page: number;
  total: number | null;
  is_whole: number;
}

/** One row for each pause that a person set. The folder '' stands for everything. */
export interface PauseTable {
  folder: string;
  since: number;
  until: number | null;
  by: string;
}

/** One row for each feed that is to be published although no file waits for it: its videos have changed, or a person asks for it. */
export interface FeedDueTable {
  feed: string;
  first_at: number;
  last_at: number;
  /** 1: at once. */
  is_now: number;
}

/** One row for each message that a target has not taken yet: see `OutboxRow`. */
export interface OutboxTable {
  seq: GeneratedAlways<number>;
  target: string;
  message: string;
  at: number;
  tried_at: number | null;
  refusals: number;
}

/** What was told to people so far, as JSON under a name each. */
export interface NewsMemoryTable {
  name: string;
  record: string;
}

/** What happened beside the files, as a line of JSON each: pauses, folders, feeds, reloads. */
export interface EventTable {
  seq: GeneratedAlways<number>;
  /** The host where it happened. */
  host: string;
  at: number;
  line: string;
}

/** Which files count for which expectation. A file that is moved afterwards still does. */
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
  pause: PauseTable;
  feed_due: FeedDueTable;
  outbox: OutboxTable;
  news_memory: NewsMemoryTable;
  expected_file: ExpectedFileTable;
  event: EventTable;
}
