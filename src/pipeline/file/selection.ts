import type { Facts, FileState } from './facts.ts';
import { unknownNameCodes } from './failure.ts';

/**
 * Which files a listing shows and a command acts on: those that match every given member. Page and command line share
 * it.
 */
export interface FileSelection {
  readonly ids?: readonly string[] | undefined;
  /** States as they are displayed. `settling` selects nothing, because a settling file has no row yet. */
  readonly states?: readonly string[] | undefined;
  /** Stages and ends, as people read them. */
  readonly stages?: readonly string[] | undefined;
  /** Only files that need a person. */
  readonly needsPerson?: boolean | undefined;
  /** The watched folder. */
  readonly folder?: string | undefined;
  /** The host of a fleet that works on the file, or did so last. */
  readonly host?: string | undefined;
  readonly channel?: string | undefined;
  /** A feed that the file is to be published in, or was published in. */
  readonly feed?: string | undefined;
  /** Why the file stopped: see `causeKey`. */
  readonly cause?: string | undefined;
  /** Part of the path, title or video id, in upper or lower case; part of the absolute path when it begins with `/`. */
  readonly text?: string | undefined;
  /** Arrived or ended at this time or later (epoch milliseconds). */
  readonly since?: number | undefined;
  /**
   * Arrived or ended before this time (epoch milliseconds). With `since`, the same one of the two times lies in
   * between.
   */
  readonly until?: number | undefined;
  /**
   * Files that a step works on, which are displayed as `creating` and `uploading`. Only the running daemon knows them.
   */
  readonly working?: readonly string[] | undefined;
}

/** One part of a selection, in the order of arrival, so rows written in the meantime move nothing. */
export interface FileRange {
  /** Only files after this one in the order, or before it. Both are cursors of another page. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** Nothing newer than this file, itself included. */
  readonly upTo?: string | undefined;
  readonly limit: number;
  /** Default: newest first. */
  readonly order?: 'newest first' | 'oldest first' | undefined;
}

export interface FilePage {
  readonly files: readonly Facts[];
  /** Cursors of the first and the last file, for `upTo`, `before` and `after`; null on an empty page. */
  readonly first: string | null;
  readonly last: string | null;
  /** Whether there is more on either side. */
  readonly isMoreBefore: boolean;
  readonly isMoreAfter: boolean;
}

/**
 * The number of files for each value of each property, most first. A property is counted over everything that the rest
 * of the selection matches.
 */
export interface FileFacets {
  readonly total: number;
  readonly states: readonly FacetCount[];
  /** The same by stage. States and stages are both counted over files of any state and stage. */
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

/** Queries of files by common properties. Every query reads one index, whatever is selected. */
export interface SelectionStore {
  page(selection: FileSelection, range: FileRange): Promise<FilePage>;
  count(selection: FileSelection, newerThan?: string): Promise<number>;
  facets(selection: FileSelection): Promise<FileFacets>;
  /**
   * The ids of the files, newest first, a slice at a time: for commands on many files. A file that changes or arrives
   * in the meantime is in no slice twice.
   *
   * @param most of one slice
   * @param after cursor of the slice before
   */
  ids(selection: FileSelection, most: number, after?: string): Promise<IdSlice>;
}

export interface IdSlice {
  readonly ids: readonly string[];
  /** Cursor for the next slice; null after the last one. */
  readonly next: string | null;
}

/** The state that is displayed while a step works on a file, for the state of its row. */
export const stepStates = { queued: 'creating', 'awaiting upload': 'uploading' } as const satisfies Partial<
  Record<FileState, FileState>
>;

/**
 * Pure: why a file stopped, as a short stable word: the code of its failure, with the field that the service refused
 * (`invalid_request.tags`), or with the channel or feed that it does not have. Files with the same word need the same
 * action. The ledger's indexes contain it too.
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

/** Answers of the service that concern the request and not the account. */
const refusals: ReadonlySet<number> = new Set([400, 409, 413, 415, 422]);

/** PATH_MAX of Linux: no path, title or video id is longer. */
export const longestText = 4_096;
