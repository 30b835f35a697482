import type { Facts } from './file/facts.ts';
import type { Failure } from './file/failure.ts';

/** Destinations on the service that a rule names. */
export type NameKind = 'channel' | 'feed';

/** Why everything waits, or all uploads to a host, and when that is tried again. Times are epoch milliseconds. */
export interface Pause {
  readonly kind: 'offline' | 'suspended';
  readonly holds: 'everything' | 'uploads';
  readonly why: string;
  readonly code: string;
  readonly since: number;
  readonly probes: number;
  readonly nextProbeAt: number;
}

/** A pause that a person set. Times are epoch milliseconds. */
export interface OperatorPause {
  /** Absolute path of the watched folder; null: everything. */
  readonly folder: string | null;
  readonly since: number;
  /** When it expires, on the wall clock; null: when a person ends it. */
  readonly until: number | null;
  /** Who set it. */
  readonly by: string;
}

/**
 * What happened to which file, feed, folder or to the service. It is told once, after it is durable, in the order in which it
 * happened. Log, failure log, page and counters listen; nothing in the pipeline depends on who does.
 */
export type DropcastEvent =
  /** The watcher found a complete file, and the intake knows what it is. */
  | {
      readonly type: 'arrival';
      /** Absolute. */
      readonly path: string;
      /** Bytes. */
      readonly size: number;
      /** What the intake took it for: `new`, `changed`, `renamed` … */
      readonly as: string;
      /** Why it is held, or null. */
      readonly heldBecause: string | null;
    }
  /** A row was written. `before` is null for a file that came in. */
  | {
      readonly type: 'file';
      readonly before: Facts | null;
      readonly facts: Facts;
      /** The line of its history, if there is one. */
      readonly note: string | null;
    }
  /** Other hosts of the fleet wrote the row of a file. They tell what happened there; here it only changes what is shown. */
  | {
      readonly type: 'elsewhere';
      readonly facts: Facts;
      /** The state of the row before; null: it is new. */
      readonly from: string | null;
      /** The lines of its history since then, oldest first. */
      readonly passed: readonly { readonly at: number; readonly state: string }[];
    }
  /** A step of a file failed. `next` says in words what happens next. */
  | {
      readonly type: 'failure';
      readonly facts: Facts;
      readonly failure: Failure;
      readonly next: string;
      /** The try before failed for the same reason. */
      readonly isRepeated: boolean;
    }
  /** Something that a person wanted for a file cannot be done. `why` is a sentence without its full stop. */
  | {
      readonly type: 'refusal';
      readonly facts: Facts;
      readonly why: string;
    }
  /** A feed was published with some files, or was not. */
  | { readonly type: 'feed'; readonly feed: string; readonly files: number; readonly failure: Failure | null }
  /** A request to the service or an upload has ended; `status` is null when no answer came. In memory only: it is counted, not told. */
  | {
      readonly type: 'request';
      /** In words, of a fixed list: `create video`, `upload file`. */
      readonly operation: string;
      readonly status: number | null;
      readonly ms: number;
    }
  /** Everything waits, for a service that is away or for a key or account that it refuses. */
  | { readonly type: 'paused'; readonly pause: Pause }
  | { readonly type: 'resumed'; readonly pause: Pause }
  /** The service does not have this channel or feed, and what goes there waits; or it has it again. */
  | { readonly type: 'name'; readonly kind: NameKind; readonly name: string; readonly isKnown: boolean }
  /** A person paused a folder or everything, or that is over. `by` is null when it ended by its time. */
  | {
      readonly type: 'operator-pause';
      readonly pause: OperatorPause;
      readonly is: 'set' | 'over';
      readonly by: string | null;
    }
  | {
      readonly type: 'folder';
      /** Absolute. */
      readonly folder: string;
      readonly state: 'watching' | 'scanning' | 'frozen';
      readonly why: string | null;
    };

/** Where news goes. Returns at once and never throws: who listens looks after its own errors. */
export interface Events {
  emit(event: DropcastEvent): void;
}

/** A row of the ledger for an event that concerns no file; files have their history. */
export interface EventRow {
  /** Where it happened. */
  readonly host: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Written as JSON. */
  readonly line: unknown;
}

export interface KeptEvents extends Events {
  /**
   * The row of an event that reports a write. The store writes both in one transaction, and then the event is emitted: a crash can neither
   * lose the event nor invent it. All other events that concern no file are written after they are emitted.
   *
   * @returns null when the event is no news
   */
  rowOf(event: DropcastEvent): EventRow | null;
}
