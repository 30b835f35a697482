import type { Facts } from './file/facts.ts';
import type { AccountTrouble } from './file/account-trouble.ts';
import type { Failure } from './file/failure.ts';

/** Kinds of destination on the service that a rule can name. */
export type NameKind = 'channel' | 'feed';

/**
 * Why everything, every upload to one host, or every new file is waiting, and when dropcast tries again. Times are
 * epoch milliseconds.
 */
export interface Pause {
  readonly kind: 'offline' | 'suspended';
  readonly holds: 'everything' | 'uploads' | 'new files';
  /** For `new files`: what the service refuses them for. */
  readonly trouble?: AccountTrouble;
  /** The channel whose new files wait; absent: those of the whole account. */
  readonly channel?: string;
  readonly why: string;
  readonly code: string;
  readonly since: number;
  readonly probes: number;
  readonly nextProbeAt: number;
}

/** A pause set by the operator. Times are epoch milliseconds. */
export interface OperatorPause {
  /** Absolute path of the watched folder; null for everything. */
  readonly folder: string | null;
  readonly since: number;
  /** When the pause expires, on the wall clock; null if the operator ends it. */
  readonly until: number | null;
  readonly by: string;
}

/**
 * Something that happened to a file, a feed, a folder or the service. Each event is emitted once, after it is durable,
 * in the order in which things happened. Log, failure log, web page and counters listen; nothing in the pipeline
 * depends on the listeners.
 */
export type DropcastEvent =
  /** The watcher found a complete file, and the intake has classified it. */
  | {
      readonly type: 'arrival';
      /** Absolute path. */
      readonly path: string;
      /** Size in bytes. */
      readonly size: number;
      /** The intake's classification: `new`, `changed`, `renamed` … */
      readonly as: string;
      /** Why the file is held, or null. */
      readonly heldBecause: string | null;
    }
  /** A row was written. `before` is null if the file is new. */
  | {
      readonly type: 'file';
      readonly before: Facts | null;
      readonly facts: Facts;
      /** The line added to the file's history, if any. */
      readonly note: string | null;
    }
  /**
   * Other hosts of the fleet wrote the row of a file. They emit the events for the change; on this host it only updates
   * what is displayed.
   */
  | {
      readonly type: 'elsewhere';
      readonly facts: Facts;
      /** The previous state; null if the row is new. */
      readonly from: string | null;
      /** The lines of the file's history since then, oldest first. */
      readonly passed: readonly { readonly at: number; readonly state: string }[];
    }
  | {
      readonly type: 'failure';
      readonly facts: Facts;
      readonly failure: Failure;
      readonly next: string;
      /** Whether the previous try failed for the same reason. */
      readonly isRepeated: boolean;
    }
  /** A file certainly misses its deadline `by` (epoch milliseconds). `why` is part of a sentence. */
  | { readonly type: 'late'; readonly facts: Facts; readonly by: number; readonly why: string }
  /** The operator's request for a file cannot be carried out. `why` is a sentence without its full stop. */
  | {
      readonly type: 'refusal';
      readonly facts: Facts;
      readonly why: string;
    }
  | { readonly type: 'feed'; readonly feed: string; readonly files: number; readonly failure: Failure | null }
  /**
   * A request to the service, or an upload, has ended; `status` is null if no answer arrived. Only counted, never
   * logged.
   */
  | {
      readonly type: 'request';
      /** One of a fixed list of descriptions: `create video`, `upload file`. */
      readonly operation: string;
      readonly status: number | null;
      readonly ms: number;
    }
  /** Everything is waiting, because the service is unreachable or refuses the key or account. */
  | { readonly type: 'paused'; readonly pause: Pause }
  | { readonly type: 'resumed'; readonly pause: Pause }
  /** The service does not have this channel or feed, so its files wait; or it has the channel or feed again. */
  | { readonly type: 'name'; readonly kind: NameKind; readonly name: string; readonly isKnown: boolean }
  /** The operator paused a folder or everything, or the pause ended. `by` is null if the pause expired. */
  | {
      readonly type: 'operator-pause';
      readonly pause: OperatorPause;
      readonly is: 'set' | 'over';
      readonly by: string | null;
    }
  | {
      readonly type: 'folder';
      /** Absolute path. */
      readonly folder: string;
      readonly state: 'watching' | 'scanning' | 'frozen';
      readonly why: string | null;
    };

/** Receives events. Returns immediately and never throws, because each listener handles its own errors. */
export interface Events {
  emit(event: DropcastEvent): void;
}

/** A ledger row for an event that does not concern a file. Files have their own history. */
export interface EventRow {
  /** The host where the event happened. */
  readonly host: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The event, stored as JSON. */
  readonly line: unknown;
}

export interface KeptEvents extends Events {
  /**
   * Returns the row for an event that reports a write. The store writes both in one transaction and the event is
   * emitted afterwards, so a crash can neither lose an event nor invent one. All other events that do not concern a
   * file are written after they are emitted.
   *
   * @returns null if the event is not recorded
   */
  rowOf(event: DropcastEvent): EventRow | null;
}
