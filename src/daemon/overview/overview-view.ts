import type { Limit } from '../../pipeline/estimate.ts';
import type { FolderStatus } from '../../intake/watched-folder.ts';
import type { DeafTargetView } from '../message-targets.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';
import type { FleetStatus } from '../fleet/host-view.ts';
import type { NeedsYou } from './needs-you.ts';
import type { StageOrEnd } from '../../view/stages.ts';
import type { Wait } from '../../view/waits.ts';

/** All of dropcast at one moment, for page, terminal and programs. Times are epoch milliseconds. */
export interface OverviewView {
  readonly v: 1;
  readonly at: number;
  readonly started_at: number;
  readonly sentence: Sentence;
  /** From left to right. */
  readonly stages: readonly StageView[];
  /** Files that wait for another try, in whatever stage: they are in none of them. */
  readonly retrying: { readonly files: number; readonly next_at: number | null };
  readonly outlook: { readonly limited_by: Limit; readonly why: string; readonly done_at: number | null };
  readonly needs_you: NeedsYou;
  readonly now: { readonly files: readonly NowFile[]; readonly more: number };
  readonly budget: BudgetView;
  readonly day: DayView;
  readonly feeds: readonly FeedView[];
  /** Folders that are not simply watched. */
  readonly folders: readonly Pick<FolderStatus, 'path' | 'state' | 'why'>[];
  readonly pauses: readonly PauseView[];
  /** Everything that holds work up, the most far-reaching first. */
  readonly waits: readonly Wait[];
  /** What folders expect, and what has come of it. */
  readonly expectations: readonly ExpectationView[];
  /** Notification targets that take no messages. */
  readonly deaf_targets: readonly DeafTargetView[];
  /** The hosts that have the same ledger; null: this one has it for itself. */
  readonly fleet: FleetStatus | null;
}

export interface Sentence {
  readonly text: string;
  /** `stopped`: nothing is sent. `attention`: somebody must look. */
  readonly level: 'ok' | 'busy' | 'attention' | 'stopped';
}

export type StageName = 'settling' | 'queued' | 'uploading' | 'processing' | 'publishing' | 'live';

export interface StageView {
  readonly name: StageName;
  /** States that are in it, as lists of files are asked for them. */
  readonly states: readonly string[];
  readonly files: number;
  /** Files that left it in the last hour; of `live` those that came. */
  readonly last_hour: number;
  /** Since when the one that came in first is there; null: none is, or nobody knows. */
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
  /** When the service is asked about it next. */
  readonly next_look_at: number | null;
  readonly why: string | null;
}

export interface BudgetView {
  readonly used: number;
  readonly limit: number;
  /** What others use of the key in an hour. */
  readonly others: number;
  readonly blocked_until: number | null;
  /** When requests of the last hour may be made again, earliest first. */
  readonly frees: readonly { readonly at: number; readonly requests: number }[];
}

export interface DayView {
  /** Half hours of the last 24 hours, the present one last. `at` is when each began. */
  readonly slots: readonly DaySlot[];
  readonly done: number;
  /** Failed and held. */
  readonly failed: number;
  /** Of those that are done. */
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

export interface PauseView {
  /** What waits: `everything`, `uploads`, `new files`, or a folder. */
  readonly what: string;
  /** Says also until when. */
  readonly why: string;
  readonly since: number | null;
  readonly until: number | null;
}
