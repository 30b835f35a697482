import type { End, Facts, FileState } from './facts.ts';
import type { FullMark, SeenFolders } from './ports.ts';
import type { FileFilter } from './selection.ts';

/**
 * The groups of rows that dropcast reads, with the parameters that narrow each group. Oldest rows first, unless a group
 * says otherwise.
 */
export interface RowGroups {
  /** Files in this state, either in progress or ended that way. */
  readonly 'in state': AtMost & { readonly state: Exclude<FileState, 'retrying'> };
  /** Files whose next try is due by this time (epoch milliseconds). Earliest deadline first. */
  readonly retrying: AtMost & { readonly dueBy: number };
  /** Files put first or with a deadline, until they are ready or over. Most urgent first. */
  readonly due: AtMost;
  /** Files that match a filter; without one, all files. */
  readonly any: { readonly where?: FileFilter; readonly limit?: number; readonly newestFirst?: boolean };
  /** Files that arrived in this folder since the given time (epoch milliseconds). */
  readonly 'came in': { readonly folder: string; readonly since: number };
  /**
   * Files of the same size that were uploaded or will be uploaded first: they arrived earlier, have a record, or are in
   * `passing`.
   */
  readonly twins: { readonly of: Facts; readonly passing: readonly string[] };
  /**
   * Files skipped as duplicates of this file, which has since failed or been deleted. Null: of any file, which reads
   * every skipped row.
   */
  readonly stranded: { readonly twin: string | null };
  /** Files that are `done` and whose `after_ready` has not been tried yet. */
  readonly 'to put away': AtMost & Seen;
  /** Files whose `after_ready` failed and will be tried again. Newest first. */
  readonly 'waiting for disk': AtMost & Seen;
  /** Files to be deleted later whose `after` period is over at `now` (epoch milliseconds). Longest overdue first. */
  readonly expired: AtMost & { readonly now: number; readonly folders: readonly string[] };
  /** Files to be deleted once disk usage reaches `mark`. Earliest finished first; skips the first `without` rows. */
  readonly crowding: AtMost & { readonly mark: FullMark; readonly without?: number };
  readonly 'to amend': AtMost;
  /** Files that ended in one of these ways while their record had no bytes. */
  readonly abandoned: AtMost & { readonly ends: readonly End[] };
  /**
   * Files held without a route or because of a checksum mismatch, or waiting for a channel that the service does not
   * have.
   */
  readonly unrouted: unknown;
  /** Files held because of their size, ordered by id, starting after `after`. */
  readonly 'too large': AtMost & { readonly after: string };
  /**
   * Files that stopped because they were missing or unreadable (`isOfLocalFile`), perhaps with a few others. Ordered by
   * id, starting after `after`.
   */
  readonly 'stopped by disk': AtMost & { readonly folder: string; readonly after: string };
  /** Files that existed before the first start and have not been compared with the service's videos yet. */
  readonly 'to compare': AtMost;
  /** Files that existed before the first start, compared or not. */
  readonly 'to adopt': unknown;
}

interface AtMost {
  readonly limit: number;
}

interface Seen {
  /** Limits the group to these folders. */
  readonly seen?: SeenFolders;
}

export type RowGroup = keyof RowGroups;

/** The group of rows to read, with its parameters. */
export type RowsWanted<G extends RowGroup = RowGroup> = { [K in G]: { readonly group: K } & RowGroups[K] }[G];

/** Reads rows. Each part of dropcast declares the groups it needs. */
export interface RowStore<G extends RowGroup = RowGroup> {
  rows(wanted: RowsWanted<G>): Promise<readonly Facts[]>;
}
