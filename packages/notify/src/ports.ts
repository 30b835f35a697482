import type { DayWindow } from './target.ts';

/** A message that a target has not accepted yet. Times are epoch milliseconds. */
export interface OutboxRow {
  readonly seq: number;
  readonly message: unknown;
  readonly at: number;
  /** When it was sent without an answer, so it may have arrived; null when it was not sent. */
  readonly triedAt: number | null;
  /** How often the target refused it. */
  readonly refusals: number;
}

/** Memory and messages that are written in one transaction. */
export interface OutboxCommit {
  /** Values by name; null forgets one. */
  readonly remember?: Readonly<Record<string, unknown>>;
  readonly post?: readonly { readonly target: string; readonly message: unknown; readonly at: number }[];
  /** Numbers of messages that arrived or were dropped. */
  readonly remove?: readonly number[];
}

/** Durable store of messages that targets have not accepted yet, and of what notifications remember. */
export interface Outbox {
  /** @returns null for an unknown name or a damaged value */
  recall(name: string): Promise<unknown>;
  commit(commit: OutboxCommit): Promise<void>;
  /** Waiting messages of a target, oldest first. */
  waiting(target: string, limit: number): Promise<readonly OutboxRow[]>;
  /** Number of waiting messages by target. */
  countWaiting(): Promise<ReadonlyMap<string, number>>;
  /** Records that messages were sent; after a crash they may have arrived. @param at null when they did not arrive */
  markTried(seqs: readonly number[], at: number | null): Promise<void>;
  markRefused(seqs: readonly number[]): Promise<void>;
  /**
   * Removes the messages of a target that are older than a time, and all but the newest of the others.
   *
   * @param keep.countIn name of the remembered number of removed messages, which grows by this one
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
  /** These messages will never be delivered. */
  dropped(target: TargetName, messages: number): void;
  /** The target was removed from the configuration. */
  gone(name: string): void;
}

type TargetName = Readonly<Record<'name' | 'type', string>>;

/** The local time of this machine. Times are epoch milliseconds. */
export interface LocalClock {
  /** `14:20`; with the date on another day than now. */
  timeOf(at: number, now: number): string;
  isInWindow(window: DayWindow, at: number): boolean;
}

/** The log of the program. Messages are fixed, fields are an object; errors go under `err`. */
export interface Logger {
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
