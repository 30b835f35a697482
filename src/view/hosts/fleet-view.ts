import type { LatePoll } from '../../pipeline/estimate.ts';
import type { Pause } from '../../pipeline/events.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';
import type { UnknownName } from '../../pipeline/service-names.ts';
import type { Comparison } from '../../pipeline/rounds/adopt.ts';
import type { FeedWait } from '../../pipeline/rounds/publish.ts';
import type { PollTrouble } from '../../pipeline/rounds/sweep.ts';

/** A member of the fleet, as its row in the database says. Times are epoch milliseconds by the clock of whoever reads it. */
export interface Host {
  readonly name: string;
  readonly version: string;
  /** Of the tables that it knows. */
  readonly schema: number;
  readonly startedAt: number;
  readonly heardAt: number;
  /** Whether it was heard lately when the row was read, by the database's clock. While the database is away nobody knows more. */
  readonly isHeard: boolean;
  /** It ended in order. */
  readonly isStopped: boolean;
  /** How far its clock is ahead of the database's, in milliseconds; null until that was measured. */
  readonly clockAheadMs: number | null;
  /** It starts nothing new, because a person wants it so. */
  readonly draining: Draining | null;
  readonly doing: Doing;
}

export interface Draining {
  readonly since: number;
  readonly by: string;
}

/** What a host tells the others of itself. */
export interface Doing {
  /** How many uploads it may have at once. */
  readonly slots: number;
  /** Names of the places that it can read, as rows have them. */
  readonly places: readonly string[];
  /** Files whose rows it holds. */
  readonly work: readonly HostWork[];
  /** Of the host whose turn it is. */
  readonly rounds?: HostRounds;
  /** Absent: of a release that proves nothing. */
  readonly proofs?: Proofs;
  /** Absent: of a release that does not tell. */
  readonly sees?: HostSights;
  /** Absent: of a release that tells nothing of contents. */
  readonly contents?: ContentWords;
}

/** What is wrong where only this host can see it. The host that sends notifications for all tells people. */
export interface HostSights {
  readonly pause: Pause | null;
  /** Channels and feeds of its rules that the service does not have. */
  readonly unknown: readonly UnknownName[];
  /** Its folders that are not scanned: paths of this host. */
  readonly folders: readonly SeenFolder[];
  /** How it stands with what its folders expect. Their keys have the names of places, so that they are the same on all hosts. */
  readonly expected: readonly ExpectationView[];
}

export interface SeenFolder {
  readonly path: string;
  readonly state: 'starting' | 'frozen';
  readonly why: string | null;
}

/** Which folders of several hosts are one place. */
export interface Proofs {
  readonly asked: readonly AskedProof[];
  readonly answers: readonly ProofAnswer[];
}

/** What hosts ask each other of the content of files, by their ids. */
export interface ContentWords {
  readonly asked: readonly string[];
  /** SHA-256, in hexadecimal digits; null: it cannot be read. */
  readonly known: Readonly<Record<string, string | null>>;
}

/** Whoever watches the place is asked whether this file is in it. */
export interface AskedProof {
  readonly place: string;
  readonly nonce: string;
  readonly inode: string;
}

export interface ProofAnswer {
  readonly nonce: string;
  readonly isSame: boolean;
}

/** What only the host knows that asks the service about videos, publishes and sends notifications for all. Times are epoch milliseconds by its clock. */
export interface HostRounds {
  readonly feeds: readonly FeedWait[];
  readonly pollTrouble: PollTrouble | null;
  readonly nextPollAt: number | null;
  readonly comparison: Comparison | null;
  readonly processingMs: number | null;
  readonly latePoll: LatePoll | null;
  readonly deaf: readonly DeafTarget[];
}

/** A notification target that takes no messages at present: why, and since when. */
export interface DeafTarget {
  readonly name: string;
  readonly type: string;
  readonly why: string;
  readonly since: number;
}

export interface HostWork {
  readonly id: string;
  /** How far its upload is; null: none is under way. */
  readonly upload: HostUpload | null;
}

export interface HostUpload {
  readonly sentBytes: number;
  readonly sizeBytes: number;
  /** How long no byte has left. */
  readonly idleMs: number;
  /** Null until it was measured. */
  readonly bytesPerSecond: number | null;
}

/** The members of one ledger, seen from one of them. */
export interface FleetView {
  /** The name of this host. */
  readonly self: string;
  /** All of them by name, as they were told last: a few seconds old, and never waited for. */
  known(): readonly Host[];
  /** The same, asked now. @throws {LedgerUnavailableError} */
  hosts(): Promise<readonly Host[]>;
  /** By file, the host that wrote its row last. @throws {LedgerUnavailableError} */
  hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Since when the database has not answered (epoch milliseconds); null: it answers. */
  awaySince(): number | null;
  /** Which database has not answered, since when, and why: a sentence without its full stop. Null: it answers. */
  whyAway(): string | null;
}

export interface Fleet extends FleetView, FleetCommands {}

/** What a person does with a member, from any of them. Each throws `LedgerUnavailableError` while the database is away. */
export interface FleetCommands {
  /** It starts nothing new; also after a restart. @param by who says it; null: it works again @returns the member; null: there is none of this name */
  drain(name: string, by: string | null): Promise<Host | null>;
  /** Removes the row of one that is gone for good. `running`: it was heard lately, so it is not removed. */
  forget(name: string): Promise<'forgotten' | 'running' | 'unknown'>;
}
