/** A message that a target has not taken yet. Times are epoch milliseconds. */
export interface OutboxRow {
  readonly seq: number;
  readonly message: unknown;
  readonly at: number;
  /** When it was sent without an answer: it may have arrived. Null: it was not sent. */
  readonly triedAt: number | null;
  /** How often the target refused it. */
  readonly refusals: number;
}

/** Memory and messages that become durable in one transaction. */
export interface OutboxCommit {
  /** By name; null forgets it. */
  readonly remember?: Readonly<Record<string, unknown>>;
  readonly post?: readonly { readonly target: string; readonly message: unknown; readonly at: number }[];
  /** Messages that arrived, or are given up. */
  readonly remove?: readonly number[];
}

/** Messages until their targets have taken them, and what is remembered of them. It outlives the process. */
export interface Outbox {
  /** @returns null when nothing was remembered under the name, or it is damaged */
  recall(name: string): Promise<unknown>;
  commit(commit: OutboxCommit): Promise<void>;
  /** Messages of a target, oldest first. */
  waiting(target: string, limit: number): Promise<readonly OutboxRow[]>;
  /** How many messages wait, by target. */
  countWaiting(): Promise<ReadonlyMap<string, number>>;
  /** Notes that messages were sent; after a crash it is unknown whether they arrived. @param at null: they did not arrive */
  markTried(seqs: readonly number[], at: number | null): Promise<void>;
  markRefused(seqs: readonly number[]): Promise<void>;
  /**
   * Removes the oldest messages of a target, all but some, and those from before a time.
   *
   * @param keep.countIn the name under which it is remembered how many they are, together with those from before
   * @returns how many
   */
  trim(
    target: string,
    keep: { readonly newest: number; readonly since: number; readonly countIn?: string },
  ): Promise<number>;
}

/** A target, for who counts how sending goes. */
export interface TargetName {
  readonly name: string;
  readonly type: string;
}

/** Who is told how sending goes. */
export interface TargetResults {
  took(target: TargetName): void;
  /** @param at epoch milliseconds */
  refused(target: TargetName, why: string, at: number): void;
  /** No target will ever get these messages. */
  dropped(target: TargetName, messages: number): void;
  /** The target was removed from the configuration. */
  gone(name: string): void;
}
