import type { LatePoll } from '../../pipeline/estimate.ts';
import type { Pause } from '../../pipeline/events.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';
import type { UnknownName } from '../../pipeline/service-names.ts';
import type { Comparison } from '../../pipeline/rounds/adopt.ts';
import type { FeedWait } from '../../pipeline/rounds/publish.ts';
import type { PollTrouble } from '../../pipeline/rounds/sweep.ts';

/** A member of the fleet, from its row in the database. Times are epoch milliseconds on the clock of the reader. */
export interface Host {
  readonly name: string;
  readonly version: string;
  /** The schema version that it supports. */
  readonly schema: number;
  readonly startedAt: number;
  readonly heardAt: number;
  /**
   * Whether it reported recently when the row was read, by the database's clock. The value is stale while the database
   * is away.
   */
  readonly isHeard: boolean;
  /** It was stopped in an orderly way. */
  readonly isStopped: boolean;
  /** How far its clock is ahead of the database's, in milliseconds; null until measured. */
  readonly clockAheadMs: number | null;
  /** It starts nothing new, at the operator's request. */
  readonly draining: Draining | null;
  readonly doing: Doing;
}

export interface Draining {
  readonly since: number;
  readonly by: string;
}

/** A host's report about itself to the others. */
export interface Doing {
  /** Uploads that it may run at the same time. */
  readonly slots: number;
  /** Names of the places that it can read, as in rows. */
  readonly places: readonly string[];
  /** Files whose rows it holds. */
  readonly work: readonly HostWork[];
  /** Set for the host that has the turn. */
  readonly rounds?: HostRounds;
  /** Absent: its release has no proofs. */
  readonly proofs?: Proofs;
  /** Absent: its release does not report this. */
  readonly sees?: HostSights;
  /** Absent: its release does not report contents. */
  readonly contents?: ContentWords;
}

/** Problems that only this host can see. The host that sends notifications for all reports them. */
export interface HostSights {
  readonly pause: Pause | null;
  /** Channels and feeds of its rules that the service does not have. */
  readonly unknown: readonly UnknownName[];
  /** Its folders that are not scanned: paths of this host. */
  readonly folders: readonly SeenFolder[];
  /**
   * The state of its folders' expectations. Their keys contain the names of places, so that they are equal on all
   * hosts.
   */
  readonly expected: readonly ExpectationView[];
}

export interface SeenFolder {
  readonly path: string;
  readonly state: 'starting' | 'frozen';
  readonly why: string | null;
}

/** Which folders of several hosts are the same place. */
export interface Proofs {
  readonly asked: readonly AskedProof[];
  readonly answers: readonly ProofAnswer[];
}

/** What hosts ask each other about the content of files, by id. */
export interface ContentWords {
  readonly asked: readonly string[];
  /** SHA-256, in hexadecimal digits; null: it cannot be read. */
  readonly known: Readonly<Record<string, string | null>>;
}

/** Asks each host that watches the place whether it contains this file. */
export interface AskedProof {
  readonly place: string;
  readonly nonce: string;
  readonly inode: string;
}

export interface ProofAnswer {
  readonly nonce: string;
  readonly isSame: boolean;
}

/**
 * Known only to the host that polls, publishes and sends notifications for all. Times are epoch milliseconds on its
 * clock.
 */
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
  /** The progress of its upload; null: none is running. */
  readonly upload: HostUpload | null;
}

export interface HostUpload {
  readonly sentBytes: number;
  readonly sizeBytes: number;
  /** Milliseconds since the last byte left. */
  readonly idleMs: number;
  /** Null until measured. */
  readonly bytesPerSecond: number | null;
}

/** The members of one ledger, seen from one of them. */
export interface FleetView {
  /** The name of this host. */
  readonly self: string;
  /** All members by name, as last reported: a few seconds old, and returned at once. */
  known(): readonly Host[];
  /** The same, read now. @throws {LedgerUnavailableError} */
  hosts(): Promise<readonly Host[]>;
  /** By file, the host that wrote its row last. @throws {LedgerUnavailableError} */
  hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Since when the database has not answered (epoch milliseconds); null: it answers. */
  awaySince(): number | null;
  /** Which database has not answered, since when, and why: a sentence without its full stop. Null: it answers. */
  whyAway(): string | null;
}

export interface Fleet extends FleetView, FleetCommands {}

/**
 * The operator's commands for a member, from any of them. Each throws `LedgerUnavailableError` while the database is
 * away.
 */
export interface FleetCommands {
  /**
   * Makes a member start nothing new, also after a restart. @param by who asks for it; null: it may start again
   * @returns the member; null: there is none of this name
   */
  drain(name: string, by: string | null): Promise<Host | null>;
  /** Removes the row of a member that will not return. `running`: it reported recently, so it is not removed. */
  forget(name: string): Promise<'forgotten' | 'running' | 'unknown'>;
}
