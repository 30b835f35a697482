import type { FolderStatus } from '../../intake/folder-status.ts';
import type { Limit } from '../../pipeline/estimate.ts';
import type { OperatorPause } from '../../pipeline/events.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';
import type { Comparison } from '../../pipeline/rounds/adopt.ts';
import type { StageOrEnd } from '../stages.ts';
import type { Wait } from '../waits.ts';
import type { Accounts } from '../../watch/ports.ts';
import type { FileView } from '../files/file-view.ts';
import type { FleetStatus } from '../hosts/host-view.ts';
import type { DeafTargetView } from '../deaf-targets.ts';
import type { NeedsYou } from './needs-you.ts';

/**
 * Everything that is, at one moment. Status, top, page, metrics, the line of systemd and the JSON documents are
 * projections of it. Times are epoch milliseconds. Without a daemon it has what the ledger knows; everything else is
 * null.
 */
export interface Picture {
  readonly at: number;
  readonly daemon: { readonly running: boolean; readonly pid: number | null; readonly started_at: number | null };
  readonly config: string | null;
  /** The hosts that have the same ledger; null: this one has it for itself. */
  readonly fleet: FleetStatus | null;
  readonly sentence: Sentence;
  /** Everything that holds work up, the most far-reaching first. Without a daemon, only what people paused. */
  readonly waits: readonly Wait[];
  /** What people paused, oldest first. */
  readonly paused: readonly OperatorPause[];
  /** Why everything waits, or all uploads do; null when they do not. */
  readonly waiting: {
    readonly kind: string;
    readonly why: string;
    readonly since: number;
    readonly next_probe_at: number;
  } | null;
  /** Channels and feeds that the service does not have: what goes there waits. */
  readonly unknown: readonly { readonly kind: string; readonly name: string; readonly since: number }[];
  /** Rows by state as shown, and those that need a person for another reason (`LedgerSnapshot.counts`). */
  readonly counts: Readonly<Record<string, number>>;
  /** Files that have no row yet. */
  readonly settling: number;
  /** From left to right. */
  readonly stages: readonly StageView[];
  /** Files that wait for a retry, in whatever stage. */
  readonly retrying: { readonly files: number; readonly next_at: number | null };
  /** What holds the backlog up most, and when it is done. */
  readonly outlook: OutlookView | null;
  /** Limits that the time of day sets for uploads. */
  readonly uploads: {
    /** Limit of all uploads together; null is unlimited. */
    readonly bytes_per_second: number | null;
    /** When another limit begins; null when none does. */
    readonly until: number | null;
    /** When uploads may start again; null when they may now. */
    readonly start_at: number | null;
  } | null;
  readonly budget: BudgetView | null;
  readonly needs_you: NeedsYou;
  /** The newest files that need a person. */
  readonly needing: readonly FileView[];
  /** The first files on their way; those that a step works on before all others. */
  readonly working: readonly FileView[];
  readonly now: { readonly files: readonly NowFile[]; readonly more: number };
  readonly day: DayView;
  readonly feeds: readonly FeedView[];
  readonly folders: readonly FolderStatus[];
  /** Where the paths of all folders are. */
  readonly accounts: Accounts;
  /** Files that must be there by a time of day, of the present day of each. */
  readonly expectations: readonly ExpectationView[];
  /** Notification targets that take no messages. */
  readonly deaf_targets: readonly DeafTargetView[];
  /** Records that dropcast may have left on the service without bytes; `/suspects` lists them. */
  readonly suspects: number;
  /**
   * Files that were there before dropcast watched their folder and wait to be adopted, and how far their comparison is.
   */
  readonly adoption: { readonly files: number; readonly compared: number; readonly comparing: Comparison | null };
  /** Local files that are to be deleted later; `next_at` is null when only a full disk makes any of them go. */
  readonly deletions: { readonly files: number; readonly next_at: number | null };
  /** No file gets a record before this time, because too many create requests had no usable answer. */
  readonly creates_wait_until: number | null;
}

/** With everything that only a running daemon knows. */
export interface LivePicture extends Picture {
  readonly daemon: { readonly running: true; readonly pid: number; readonly started_at: number };
  readonly outlook: OutlookView;
  readonly budget: BudgetView;
}

export interface OutlookView {
  readonly limited_by: Limit;
  /** The same in words. */
  readonly why: string;
  /** Null when it cannot be said. */
  readonly done_at: number | null;
}

export interface Sentence {
  readonly text: string;
  /** `stopped`: nothing is sent. `attention`: a person must act. */
  readonly level: 'ok' | 'busy' | 'attention' | 'stopped';
}

export type StageName = 'settling' | 'queued' | 'uploading' | 'processing' | 'publishing' | 'live';

export interface StageView {
  readonly name: StageName;
  /** States that are in it, as lists of files are asked for them. */
  readonly states: readonly string[];
  readonly files: number;
  /** Those that wait for a retry and resume here; they are not among `files`. */
  readonly retrying: number;
  /** Files that left it in the last hour; of `live` those that came. */
  readonly last_hour: number;
  /** Since when the one that came in first is there; null: none is, or the time is not known. */
  readonly oldest_since: number | null;
  /** Why all that waits waits here most; null: it does not. */
  readonly bottleneck: string | null;
}

export interface NowFile {
  readonly id: string;
  /** The host of the fleet that works on it; null: none does, or this is a single host. */
  readonly host: string | null;
  /** Absolute. */
  readonly path: string;
  readonly state: string;
  /** See `FileView`. */
  readonly stage: StageOrEnd;
  readonly kind: 'video' | 'audio' | 'link' | 'file';
  readonly size: number;
  readonly sent: number | null;
  readonly bytes_per_second: number | null;
  /** When its bytes are sent. */
  readonly sent_at: number | null;
  /** When its video is ready, about. */
  readonly ready_at: number | null;
  /** The next check of its state at the service. */
  readonly next_look_at: number | null;
  readonly why: string | null;
}

export interface BudgetView {
  readonly used: number;
  readonly limit: number;
  /** What others use of the key in an hour. */
  readonly others: number;
  readonly blocked_until: number | null;
  /** Requests since the ledger began. */
  readonly total: number;
  /** When requests of the last hour may be made again, earliest first. */
  readonly frees: readonly { readonly at: number; readonly requests: number }[];
}

export interface DayView {
  /** Half hours of the last 24 hours, the present one last. `at` is when each began. */
  readonly slots: readonly DaySlot[];
  readonly done: number;
  /** Failed and held. */
  readonly failed: number;
  /** Sizes of the files that are done. */
  readonly bytes: number;
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
  /** Ready files that are not published in it yet. */
  readonly waiting: number;
  /** At the latest; null: nothing waits. */
  readonly next_at: number | null;
  readonly failure: string | null;
}
