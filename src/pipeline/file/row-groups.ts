import type { End, Facts, FileState } from './facts.ts';
import type { FullMark, SeenFolders } from './ports.ts';

/** The groups of rows that dropcast reads, and what narrows each down. Oldest first, unless a group says otherwise. */
export interface RowGroups {
  /** Files in this state: still in progress, or ended in this way. */
  readonly 'in state': AtMost & { readonly state: Exclude<FileState, 'retrying'> };
  /** Another try is due by this time (epoch milliseconds). Earliest deadline first. */
  readonly retrying: AtMost & { readonly dueBy: number };
  /** Rows for people and programs. */
  readonly any: AtMost & {
    readonly states?: readonly string[];
    /** Only files that arrived or ended at or after this time (epoch milliseconds), or have not ended yet. */
    readonly since?: number;
    readonly newestFirst?: boolean;
  };
  /** In no order. */
  readonly 'by id': { readonly ids: readonly string[] };
  /** In this folder, since then (epoch milliseconds). */
  readonly 'came in': { readonly folder: string; readonly since: number };
  /**
   * Files of the same size that were uploaded, or are being uploaded first: they arrived earlier, have a record, or are
   * `passing`.
   */
  readonly twins: { readonly of: Facts; readonly passing: readonly string[] };
  /** Skipped for this file, which failed or was deleted since; null: for any file, which reads every skipped row. */
  readonly stranded: { readonly twin: string | null };
  /** `done`, and `after_ready` was not tried yet. */
  readonly 'to put away': AtMost & Seen;
  /** `after_ready` failed and is tried again. Newest first. */
  readonly 'waiting for disk': AtMost & Seen;
  /** To be deleted later, and `after` is over at `now` (epoch milliseconds). Due longest ago first. */
  readonly expired: AtMost & { readonly now: number; readonly folders: readonly string[] };
  /** To be deleted once the disk is as full as the mark. Done longest ago first, after leaving out `without` rows. */
  readonly crowding: AtMost & { readonly mark: FullMark; readonly without?: number };
  /** Their video gets new metadata. */
  readonly 'to amend': AtMost;
  /** Ended in one of these ways while their record had no bytes. */
  readonly abandoned: AtMost & { readonly ends: readonly End[] };
  /** Held without a route or with another checksum, or waiting for a channel that the service does not have. */
  readonly unrouted: unknown;
  /** Stopped because the file was away or unreadable (`isOfLocalFile`); perhaps a few others. By id, those after `after`. */
  readonly 'stopped by disk': AtMost & { readonly folder: string; readonly after: string };
  /** Existed before the first start, and not compared with the service's videos yet. */
  readonly 'to compare': AtMost;
  /** Existed before the first start, compared or not. */
  readonly 'to adopt': unknown;
}

interface AtMost {
  readonly limit: number;
}

interface Seen {
  /** In these folders only. */
  readonly seen?: SeenFolders;
}

export type RowGroup = keyof RowGroups;

/** Which rows to read. */
export type RowsWanted<G extends RowGroup = RowGroup> = { [K in G]: { readonly group: K } & RowGroups[K] }[G];

/** Reads rows. Each part of dropcast names the groups that it needs. */
export interface RowStore<G extends RowGroup = RowGroup> {
  rows(wanted: RowsWanted<G>): Promise<readonly Facts[]>;
}
