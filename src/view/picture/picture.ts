import type { FolderStatus } from '../../intake/folder-status.ts';
import type { OperatorPause } from '../../pipeline/events.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';
import type { Comparison } from '../../pipeline/rounds/adopt.ts';
import type { Wait } from '../waits.ts';
import type { Accounts } from '../../watch/ports.ts';
import type { FileView } from '../files/file-view.ts';
import type { OutlookView } from '../outlook.ts';
import type { FleetStatus } from '../hosts/host-view.ts';
import type { DeafTarget } from '../hosts/fleet-view.ts';
import type { Cause } from './causes.ts';

/**
 * The complete state at one moment. Status, top, the page, metrics, systemd's status line and the JSON documents are
 * projections of it. Times are epoch milliseconds. Without a daemon it contains what the ledger knows, and everything
 * else is null.
 */
export interface Picture {
  readonly at: number;
  readonly daemon: { readonly running: boolean; readonly pid: number | null; readonly started_at: number | null };
  readonly config: string | null;
  /** The hosts that share the ledger; null: not shared. */
  readonly fleet: FleetStatus | null;
  readonly sentence: Sentence;
  /** Everything that holds up work, most far-reaching first. Without a daemon, only operators' pauses. */
  readonly waits: readonly Wait[];
  /** Operators' pauses, oldest first. */
  readonly paused: readonly OperatorPause[];
  /** Why everything, every upload or every new file is waiting; null: none of them is. */
  readonly waiting: {
    readonly kind: string;
    readonly why: string;
    readonly since: number;
    readonly next_probe_at: number;
  } | null;
  /** Channels and feeds that the service lacks: files for them are waiting. */
  readonly unknown: readonly { readonly kind: string; readonly name: string; readonly since: number }[];
  /** Rows by displayed state, and files that need a person for another reason (`LedgerSnapshot.counts`). */
  readonly counts: Readonly<Record<string, number>>;
  /** Files without a row yet. */
  readonly settling: number;
  /** In life-cycle order. */
  readonly stages: readonly StageView[];
  /** Files waiting for a retry, in any stage. */
  readonly retrying: { readonly files: number; readonly next_at: number | null };
  /** The backlog's main bottleneck and its completion time. */
  readonly outlook: OutlookView | null;
  /** Upload limits that depend on the time of day. */
  readonly uploads: {
    /** Limit shared by all uploads; null: unlimited. */
    readonly bytes_per_second: number | null;
    /** When the next limit takes effect; null: never. */
    readonly until: number | null;
    /** When uploads may start again; null: now. */
    readonly start_at: number | null;
  } | null;
  readonly budget: BudgetView | null;
  readonly needs_you: NeedsYou;
  /** The newest files that need a person. */
  readonly needing: readonly FileView[];
  /** The first files in progress, those with a running step first. */
  readonly working: readonly FileView[];
  readonly now: { readonly files: readonly NowFile[]; readonly more: number };
  readonly day: DayView;
  readonly feeds: readonly FeedView[];
  readonly folders: readonly FolderStatus[];
  /** Counts of the paths in all folders, by what dropcast does with them. */
  readonly accounts: Accounts;
  /** Files expected by a time of day, each for its current day. */
  readonly expectations: readonly ExpectationView[];
  /** Notification targets that reject messages. */
  readonly deaf_targets: readonly DeafTargetView[];
  /** Records that dropcast may have left on the service without bytes; `/suspects` lists them. */
  readonly suspects: number;
  /**
   * Files that existed before dropcast watched their folder and wait to be adopted, and the progress of their
   * comparison.
   */
  readonly adoption: { readonly files: number; readonly compared: number; readonly comparing: Comparison | null };
  /** Local files scheduled for deletion; `next_at` is null if only a full disk triggers it. */
  readonly deletions: { readonly files: number; readonly next_at: number | null };
  /** No file gets a record before this time, because too many create requests received no usable response. */
  readonly creates_wait_until: number | null;
}

/** A picture that includes everything only a running daemon knows. */
export interface LivePicture extends Picture {
  readonly daemon: { readonly running: true; readonly pid: number; readonly started_at: number };
  readonly outlook: OutlookView;
  readonly budget: BudgetView;
}

export interface Sentence {
  readonly text: string;
  /** `stopped`: nothing is being sent. `attention`: a person must act. */
  readonly level: 'ok' | 'busy' | 'attention' | 'stopped';
}

export type StageName = 'settling' | 'queued' | 'uploading' | 'processing' | 'publishing' | 'live';

export interface StageView {
  readonly name: StageName;
  /** The stage's states, as used to filter file lists. */
  readonly states: readonly string[];
  readonly files: number;
  /** Files waiting for a retry that resume here; not included in `files`. */
  readonly retrying: number;
  /** Files that left the stage in the last hour; for `live`, those that entered it. */
  readonly last_hour: number;
  /** When the earliest-arrived file in the stage entered it; null: the stage is empty, or the time is unknown. */
  readonly oldest_since: number | null;
  /** Why this stage is the backlog's bottleneck; null: it is not. */
  readonly bottleneck: string | null;
}

export interface NowFile extends Pick<
  FileView,
  'id' | 'host' | 'path' | 'state' | 'stage' | 'size' | 'sent' | 'ready_at' | 'why'
> {
  readonly kind: 'video' | 'audio' | 'link' | 'file';
  readonly bytes_per_second: number | null;
  /** When all bytes will be sent. */
  readonly sent_at: number | null;
  /** The next check of the file's state on the service. */
  readonly next_look_at: number | null;
}

export interface BudgetView {
  readonly used: number;
  readonly limit: number;
  /** Requests per hour by other clients that use the same key. */
  readonly others: number;
  readonly blocked_until: number | null;
  /** Requests that the service reports as remaining until a time, if these are fewer than the hour has left. */
  readonly reported: { readonly left: number; readonly until: number } | null;
  /** Requests since the ledger was created. */
  readonly total: number;
  /** When the last hour's requests become available again, earliest first. */
  readonly frees: readonly { readonly at: number; readonly requests: number }[];
}

/** `failed` includes held files, and `bytes` is the total size of the files that are done. */
export interface DayView extends Omit<DaySlot, 'at'> {
  /** The last 24 hours in half-hour slots, current slot last. `at`: the start of a slot. */
  readonly slots: readonly DaySlot[];
  /** Since midnight. */
  readonly today: Omit<DaySlot, 'at'>;
}

export interface DaySlot {
  readonly at: number;
  readonly done: number;
  readonly failed: number;
  readonly bytes: number;
}

export interface FeedView {
  readonly feed: string;
  readonly published_at: number | null;
  /** Ready files not yet published in the feed. */
  readonly waiting: number;
  /** Latest time of the next publish; null: nothing is waiting. */
  readonly next_at: number | null;
  readonly failure: string | null;
}

/** All files that need a person, by cause. */
export interface NeedsYou {
  readonly files: number;
  /** Sorted by number of files, most first. */
  readonly causes: readonly CauseView[];
  /** Totals of the causes omitted from the list. */
  readonly more: { readonly causes: number; readonly files: number };
}

export interface CauseView extends Cause {
  readonly files: number;
  /** When the first file with this cause stopped, epoch milliseconds; null if unknown. */
  readonly since: number | null;
  /** One example per folder and extension, most frequent first. Paths are absolute. */
  readonly examples: readonly { readonly id: string; readonly path: string; readonly why: string | null }[];
}

/** A notification target that rejects messages, with the number waiting for it. */
export interface DeafTargetView extends DeafTarget {
  readonly waiting: number;
}
