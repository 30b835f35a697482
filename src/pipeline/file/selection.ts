import type { Facts, FileState } from './facts.ts';
import { unknownNameCodes } from './failure.ts';

/**
 * Selects the files that a listing shows or a command acts on: those that match every given member. The web page and
 * the command line share it.
 */
export interface FileSelection {
  readonly ids?: readonly string[] | undefined;
  /** Displayed states. `settling` selects nothing, because a settling file has no row yet. */
  readonly states?: readonly string[] | undefined;
  readonly stages?: readonly string[] | undefined;
  readonly needsPerson?: boolean | undefined;
  readonly folder?: string | undefined;
  /** The fleet host that is working on the file, or did so last. */
  readonly host?: string | undefined;
  readonly channel?: string | undefined;
  /** A feed that the file is to be published in or has been published in. */
  readonly feed?: string | undefined;
  /** Why the file stopped, as returned by `causeKey`. */
  readonly cause?: string | undefined;
  /** Part of the path, title or video id, ignoring case; part of the absolute path if it begins with `/`. */
  readonly text?: string | undefined;
  /** Files that arrived or ended at or after this time (epoch milliseconds). */
  readonly since?: number | undefined;
  /**
   * Files that arrived or ended before this time (epoch milliseconds). With `since`, the arrival or the end must itself
   * lie within the range.
   */
  readonly until?: number | undefined;
  /**
   * Ids of files that a step is working on, which are displayed as `creating` or `uploading`. Only the running daemon
   * knows them.
   */
  readonly working?: readonly string[] | undefined;
}

/** Which files to read or count: those that match every given member. */
export interface FileFilter extends FileSelection {
  /** Only files that arrived after the one with this cursor. */
  readonly newerThan?: string | undefined;
  /** Excludes files that are waiting for a step in one of these folders. */
  readonly paused?: readonly string[] | undefined;
  readonly videoId?: string | undefined;
  /** Only files whose video was ever put into this channel or feed. Reads all rows. */
  readonly sentTo?: { readonly kind: 'channel' | 'feed'; readonly name: string } | undefined;
  /** Only files that arrived or ended at or after this time (epoch milliseconds), or have not ended. */
  readonly openSince?: number | undefined;
  readonly arrived?: Period | undefined;
  readonly ended?: Period | undefined;
}

/** A period in epoch milliseconds: `from` is included, `to` is not. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** The properties that files can be counted by. `feeds` is a JSON array. */
export interface FileProperties {
  readonly state: string;
  readonly stage: string;
  readonly folder: string;
  readonly channel: string | null;
  readonly feeds: string | null;
  readonly cause: string | null;
}

export type FileCount<P extends keyof FileProperties = keyof FileProperties> = Pick<FileProperties, P> & {
  readonly files: number;
  /** Total size; 0 unless requested. */
  readonly bytes: number;
};

/** Counts files for decisions. A count is never stale. */
export interface CountStore {
  /** @param most stops counting at this number */
  count(where: FileFilter, most?: number): Promise<number>;
}

export interface CountsStore {
  /** Counts files by properties; without properties, it returns one count. */
  counts<P extends keyof FileProperties>(wanted: {
    readonly where: FileFilter;
    readonly by: readonly P[];
    readonly withBytes?: boolean;
  }): Promise<readonly FileCount<P>[]>;
}

/** One part of a selection, in order of arrival, so that rows written in the meantime shift nothing. */
export interface FileRange {
  /** Only files after, or before, the file with this cursor. Cursors come from another page. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** Only files up to and including the one with this cursor; nothing newer. */
  readonly upTo?: string | undefined;
  readonly limit: number;
  readonly order?: 'newest first' | 'oldest first' | undefined;
}

export interface FilePage {
  readonly files: readonly Facts[];
  /** Cursors of the first and last file, for `upTo`, `before` and `after`; null on an empty page. */
  readonly first: string | null;
  readonly last: string | null;
  /** Whether there are more files on either side. */
  readonly isMoreBefore: boolean;
  readonly isMoreAfter: boolean;
}

/**
 * The number of files for each value of each property, largest first. Each property is counted over the files that the
 * rest of the selection matches.
 */
export interface FileFacets {
  readonly total: number;
  readonly states: readonly FacetCount[];
  /** Counts by stage. The counts by state and by stage both ignore the state and stage filters. */
  readonly stages: readonly FacetCount[];
  readonly folders: readonly FacetCount[];
  readonly channels: readonly FacetCount[];
  readonly feeds: readonly FacetCount[];
  readonly causes: readonly FacetCount[];
}

export interface FacetCount {
  readonly value: string;
  readonly files: number;
}

/** Queries for files by common properties, as are `CountStore` and `CountsStore`. Each query reads a single index, for any selection. */
export interface SelectionStore {
  page(selection: FileSelection, range: FileRange): Promise<FilePage>;
  facets(selection: FileSelection): Promise<FileFacets>;
  /**
   * Returns ids of the selected files in slices, newest first, for commands on many files. A file that changes or
   * arrives in the meantime appears in at most one slice.
   *
   * @param most maximum number of ids per slice
   * @param after cursor of the previous slice
   */
  ids(selection: FileSelection, most: number, after?: string): Promise<IdSlice>;
}

export interface IdSlice {
  readonly ids: readonly string[];
  /** Cursor of the next slice; null after the last one. */
  readonly next: string | null;
}

/** The state displayed while a step is working on a file, by the state of its row. */
export const stepStates = { queued: 'creating', 'awaiting upload': 'uploading' } as const satisfies Partial<
  Record<FileState, FileState>
>;

/**
 * Returns why a file stopped as a short, stable word: its failure code, followed by the field that the service refused
 * (`invalid_request.tags`) or by the missing channel or feed. Files with the same word need the same action. The
 * ledger's indexes contain these words too. Pure.
 */
export function causeKey({
  disposal,
  lastFailure,
  plan,
}: Pick<Facts, 'disposal' | 'lastFailure' | 'plan'>): string | null {
  if (lastFailure === null) return null;
  const { code, kind, feed, status = 0, message } = lastFailure;
  if (disposal === 'waiting') return `local.${code}`;
  if (code === unknownNameCodes.channel) return plan === null ? code : `${code}.${plan.channel}`;
  if (code === unknownNameCodes.feed) return feed === undefined ? code : `${code}.${feed}`;
  if (kind === 'gone') return 'deleted_on_service';
  if (!refusals.has(status)) return code;
  const [, said = ''] = message.split(`${code}: `, 2);
  const field = /^([a-zA-Z_]+):/.exec(said)?.[1];
  return field === undefined ? code : `${code}.${field}`;
}

/** Statuses of answers that concern the request and not the account. */
const refusals: ReadonlySet<number> = new Set([400, 409, 413, 415, 422]);

/** Linux's PATH_MAX; no path, title or video id is longer. */
export const longestText = 4_096;
