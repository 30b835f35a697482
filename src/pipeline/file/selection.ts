import type { Facts, FileState } from './facts.ts';
import { unknownNameCodes } from './failure.ts';

/** Which files a listing shows and a command acts on: those to which everything applies that is given. The same on page and command line. */
export interface FileSelection {
  readonly ids?: readonly string[] | undefined;
  /** As they are shown. `settling` finds nothing: what settles has no row yet. */
  readonly states?: readonly string[] | undefined;
  /** Stages and ends, as people read them. */
  readonly stages?: readonly string[] | undefined;
  /** Only files that need a person. */
  readonly needsPerson?: boolean | undefined;
  /** The watched folder. */
  readonly folder?: string | undefined;
  /** The host of a fleet that works on it, or did so last. */
  readonly host?: string | undefined;
  readonly channel?: string | undefined;
  /** A feed that the file is to be published in, or was. */
  readonly feed?: string | undefined;
  /** Why it stands still: see `causeKey`. */
  readonly cause?: string | undefined;
  /** Part of its path, title or video id, in upper or lower case; of its absolute path when it begins with `/`. */
  readonly text?: string | undefined;
  /** Arrived or ended at this time or later (epoch milliseconds). */
  readonly since?: number | undefined;
  /** Arrived or ended before this time (epoch milliseconds); with `since`, the same of both lies between the two. */
  readonly until?: number | undefined;
  /** Files that a step works on: they are shown as `creating` and `uploading`. Only the running daemon knows them. */
  readonly working?: readonly string[] | undefined;
}

/** One part of a selection, in the order in which files came: rows that are written meanwhile move nothing. */
export interface FileRange {
  /** Only what comes after this file in the order; before it. Cursors of another page. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** Nothing newer than this file, itself included. */
  readonly upTo?: string | undefined;
  readonly limit: number;
  /** Without it, newest first. */
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

/** How many files there are by each value, most first: of every property with all that is selected but the property itself. */
export interface FileFacets {
  readonly total: number;
  readonly states: readonly FacetCount[];
  /** The same as people read it. Both are of all files whose state and stage may be any. */
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

/** Files by what they have in common. Every answer reads one index, whatever is selected. */
export interface SelectionStore {
  page(selection: FileSelection, range: FileRange): Promise<FilePage>;
  count(selection: FileSelection, newerThan?: string): Promise<number>;
  facets(selection: FileSelection): Promise<FileFacets>;
  /**
   * The ids of the files, newest first, a slice at a time: for commands on many. Files that change or come meanwhile are in no slice twice.
   *
   * @param most of one slice
   * @param after cursor of the slice before
   */
  ids(selection: FileSelection, most: number, after?: string): Promise<IdSlice>;
}

export interface IdSlice {
  readonly ids: readonly string[];
  /** For the next slice; null after the last one. */
  readonly next: string | null;
}

/** What a file is called while a step works on it, by what its row says. */
export const stepStates = { queued: 'creating', 'awaiting upload': 'uploading' } as const satisfies Partial<
  Record<FileState, FileState>
>;

/**
 * Pure: why a file stands still, as a short word that does not change: the code of its failure, with the field for what the service
 * refused (`invalid_request.tags`), or the channel or feed that it does not have. Files with the same one wait for the same deed. The ledger's indexes have it too.
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

/** Answers of the service to what was asked, not to who asked. */
const refusals: ReadonlySet<number> = new Set([400, 409, 413, 415, 422]);

/** PATH_MAX of Linux: no path, title or video id is longer. */
export const longestText = 4_096;
