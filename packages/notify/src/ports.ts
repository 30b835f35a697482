import type { DayWindow } from './target.ts';

/** A message that a target has not accepted yet. Times are epoch milliseconds. */
export interface OutboxRow {
  readonly seq: number;
  readonly message: unknown;
  readonly at: number;
  /** When the message was sent without an answer, so that it may have arrived; null if it was not sent. */
  readonly triedAt: number | null;
  /** How often the target refused the message. */
  readonly refusals: number;
}

/** Changes to memory and messages, written in one transaction. */
export interface OutboxCommit {
  /** Values by name; null forgets a value. */
  readonly remember?: Readonly<Record<string, unknown>>;
  readonly post?: readonly { readonly target: string; readonly message: unknown; readonly at: number }[];
  /** Sequence numbers of messages that arrived or were dropped. */
  readonly remove?: readonly number[];
}

/** Durable store for messages that targets have not accepted yet, and for what notifications remember. */
export interface Outbox {
  /** @returns null for an unknown name or a damaged value */
  recall(name: string): Promise<unknown>;
  commit(commit: OutboxCommit): Promise<void>;
  /** Returns the waiting messages of a target, oldest first. */
  waiting(target: string, limit: number): Promise<readonly OutboxRow[]>;
  /** Returns the number of waiting messages by target. */
  countWaiting(): Promise<ReadonlyMap<string, number>>;
  /**
   * Records that messages were sent, because they may have arrived even if a crash follows. @param at null if they did
   * not arrive
   */
  markTried(seqs: readonly number[], at: number | null): Promise<void>;
  markRefused(seqs: readonly number[]): Promise<void>;
  /**
   * Removes the messages of a target that are older than `since`, and all but the newest of the rest.
   *
   * @param keep.countIn name of a remembered count, to which the number of removed messages is added
   * @returns number of removed messages
   */
  trim(
    target: string,
    keep: { readonly newest: number; readonly since: number; readonly countIn?: string },
  ): Promise<number>;
}

/** Receives the results of sending. */
export interface TargetResults {
  took(target: TargetName): void;
  /** @param at epoch milliseconds */
  refused(target: TargetName, why: string, at: number): void;
  /** Reports messages that will never be delivered. */
  dropped(target: TargetName, messages: number): void;
  /** Reports that the target was removed from the configuration. */
  gone(name: string): void;
}

type TargetName = Readonly<Record<'name' | 'type', string>>;

/** The local time of this machine. Times are epoch milliseconds. */
export interface LocalClock {
  /** Formats a time as `14:20`, with the date if it is on a different day from `now`. */
  timeOf(at: number, now: number): string;
  isInWindow(window: DayWindow, at: number): boolean;
}

/** The program's log. Messages are fixed, fields are an object, and errors go under `err`. */
export interface Logger {
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
