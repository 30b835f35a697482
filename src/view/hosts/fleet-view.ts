import type { LatePoll } from '../../pipeline/estimate.ts';
import type { Pause } from '../../pipeline/events.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';
import type { UnknownName } from '../../pipeline/service-names.ts';
import type { Comparison } from '../../pipeline/rounds/adopt.ts';
import type { FeedWait } from '../../pipeline/rounds/publish.ts';
import type { PollTrouble } from '../../pipeline/rounds/sweep.ts';
import type { LiveUpload } from '../../pipeline/steps/uploads.ts';

/** A fleet member, from its row in the database. Times are epoch milliseconds on the reader's clock. */
export interface Host {
  readonly name: string;
  readonly version: string;
  /** The schema version that the host supports. */
  readonly schema: number;
  readonly startedAt: number;
  readonly heardAt: number;
  /**
   * Whether the host had reported recently when the row was read, by the database's clock. Stale while the database is
   * away.
   */
  readonly isHeard: boolean;
  /** The host was shut down cleanly. */
  readonly isStopped: boolean;
  /** How far the host's clock is ahead of the database's, in milliseconds; null until measured. */
  readonly clockAheadMs: number | null;
  /** Set while the host starts nothing new, at the operator's request. */
  readonly draining: Draining | null;
  readonly doing: Doing;
}

export interface Draining {
  readonly since: number;
  readonly by: string;
}

/** A host's report about itself to the others. */
export interface Doing {
  /** Maximum number of simultaneous uploads. */
  readonly slots: number;
  /** Names of the places that the host can read, as in rows. */
  readonly places: readonly string[];
  /** Files whose rows the host holds. */
  readonly work: readonly HostWork[];
  /** Set for the host that has the turn. */
  readonly rounds?: HostRounds;
  /** Absent: the host's release has no proofs. */
  readonly proofs?: Proofs;
  /** Absent: the host's release does not report problems. */
  readonly sees?: HostSights;
  /** Absent: the host's release does not report contents. */
  readonly contents?: ContentWords;
}

/** Problems that only this host can see. They are reported by the host that sends notifications for all. */
export interface HostSights {
  readonly pause: Pause | null;
  /** Why the service refuses new videos. */
  readonly creates: readonly Pause[];
  /** Channels and feeds that the host's rules name but the service lacks. */
  readonly unknown: readonly UnknownName[];
  /** The host's folders that are not scanned; local paths. */
  readonly folders: readonly SeenFolder[];
  /**
   * The state of the expectations on the host's folders. Their keys contain the names of places, so that they are equal
   * on all hosts.
   */
  readonly expected: readonly ExpectationView[];
}

export interface SeenFolder {
  readonly path: string;
  readonly state: 'starting' | 'frozen';
  readonly why: string | null;
}

/** Requests and answers that show which hosts' folders are the same place. */
export interface Proofs {
  readonly asked: readonly AskedProof[];
  readonly answers: readonly ProofAnswer[];
}

/** Hosts' requests and answers about file contents, by file id. */
export interface ContentWords {
  readonly asked: readonly string[];
  /** SHA-256 in hexadecimal; null: unreadable. */
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
 * Known only to the host that polls, publishes and sends notifications for all. Times are epoch milliseconds on that
 * host's clock.
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

/** A notification target that currently rejects messages: why, and since when. */
export interface DeafTarget {
  readonly name: string;
  readonly type: string;
  readonly why: string;
  readonly since: number;
}

export interface HostWork {
  readonly id: string;
  /** Upload progress; null: not uploading. */
  readonly upload: Omit<LiveUpload, 'id' | 'host'> | null;
}

/** The members that share one ledger, seen from one of them. */
export interface FleetView {
  /** This host's name. */
  readonly self: string;
  /** Returns all members by name, as last reported: a few seconds old, without waiting. */
  known(): readonly Host[];
  /** Reads all members from the database now. @throws {LedgerUnavailableError} */
  hosts(): Promise<readonly Host[]>;
  /** Maps each file to the host that last wrote its row. @throws {LedgerUnavailableError} */
  hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** When the database stopped responding (epoch milliseconds); null: it is responding. */
  awaySince(): number | null;
  /**
   * Which database is not responding, since when, and why: a sentence without its full stop. Null: it is responding.
   */
  whyAway(): string | null;
}

/**
 * Operator commands for a member, given on any member. Each throws `LedgerUnavailableError` while the database is away.
 */
export interface Fleet extends FleetView {
  /**
   * Stops a member from starting new work, even after a restart.
   *
   * @param by who asked; null: the member may start work again
   * @returns the member; null: no member has this name
   */
  drain(name: string, by: string | null): Promise<Host | null>;
  /** Removes the row of a member that will not return. `running`: not removed, because it reported recently. */
  forget(name: string): Promise<'forgotten' | 'running' | 'unknown'>;
}
