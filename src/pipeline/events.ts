import type { Facts } from './file/facts.ts';
import type { Failure } from './file/failure.ts';

/** Destinations on the service that a rule names. */
export type NameKind = 'channel' | 'feed';

/** Why everything waits, or all uploads to one host, and when dropcast tries again. Times are epoch milliseconds. */
export interface Pause {
  readonly kind: 'offline' | 'suspended';
  readonly holds: 'everything' | 'uploads';
  readonly why: string;
  readonly code: string;
  readonly since: number;
  readonly probes: number;
  readonly nextProbeAt: number;
}

/** A pause set by the operator. Times are epoch milliseconds. */
export interface OperatorPause {
  /** Absolute path of the watched folder; null: everything. */
  readonly folder: string | null;
  readonly since: number;
  /** When it expires, on the wall clock; null: the operator ends it. */
  readonly until: number | null;
  /** Who set it. */
  readonly by: string;
}

/**
 * What happened to which file, feed or folder, or to the service. An event is emitted once, after it is durable, in the
 * order in which things happened. Log, failure log, page and counters listen; nothing in the pipeline depends on the
 * listeners.
 */
export type DropcastEvent =
  /** The watcher found a complete file, and the intake has classified it. */
  | {
      readonly type: 'arrival';
      /** Absolute. */
      readonly path: string;
      /** Bytes. */
      readonly size: number;
      /** The classification by the intake: `new`, `changed`, `renamed` … */
      readonly as: string;
      /** Why it is held, or null. */
      readonly heldBecause: string | null;
    }
  /** A row was written. `before` is null for a new file. */
  | {
      readonly type: 'file';
      readonly before: Facts | null;
      readonly facts: Facts;
      /** The line of its history, if there is one. */
      readonly note: string | null;
    }
  /**
   * Other hosts of the fleet wrote the row of a file. They emit the events of that change; here it only updates what is
   * displayed.
   */
  | {
      readonly type: 'elsewhere';
      readonly facts: Facts;
      /** The state before; null: the row is new. */
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
      /** The previous try failed for the same reason. */
      readonly isRepeated: boolean;
    }
  /** The operator's wish for a file cannot be carried out. `why` is a sentence without its full stop. */
  | {
      readonly type: 'refusal';
      readonly facts: Facts;
      readonly why: string;
    }
  /** A feed was published with some files, or was not. */
  | { readonly type: 'feed'; readonly feed: string; readonly files: number; readonly failure: Failure | null }
  /**
   * A request to the service or an upload has ended; `status` is null when no answer came. Counted only, and never
   * logged.
   */
  | {
      readonly type: 'request';
      /** In words from a fixed list: `create video`, `upload file`. */
      readonly operation: string;
      readonly status: number | null;
      readonly ms: number;
    }
  /** Everything waits, because the service is away or refuses the key or account. */
  | { readonly type: 'paused'; readonly pause: Pause }
  | { readonly type: 'resumed'; readonly pause: Pause }
  /** The service does not have this channel or feed, so its files wait; or the service has it again. */
  | { readonly type: 'name'; readonly kind: NameKind; readonly name: string; readonly isKnown: boolean }
  /** The operator paused a folder or everything, or the pause ended. `by` is null when it expired. */
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

/** Receives events. Returns at once and never throws: each listener handles its own errors. */
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
   * The row of an event that reports a write. The store writes both in one transaction, and the event is emitted after
   * that, so a crash can neither lose an event nor invent one. All other events that concern no file are written after
   * they are emitted.
   *
   * @returns null when the event is not recorded
   */
  rowOf(event: DropcastEvent): EventRow | null;
}
