import type { Facts } from './facts.ts';
import type { HostedVideo } from './failure.ts';

/** What an audit covers. */
export interface AuditWanted {
  /** Path of the watched folder; null: all folders. */
  readonly folder: string | null;
  /** Only files that arrived or ended since then (epoch milliseconds); null: all. */
  readonly since: number | null;
  /** Only the list of videos is read: no question about each video, and no local file. */
  readonly isQuick: boolean;
}

/** What an audit would cost: requests, bytes of local files to read, and hours that it takes at least. */
export interface AuditCost {
  readonly files: number;
  /** Number of videos on the service; null if it is not known. `requests.list` is then 0. */
  readonly videos: number | null;
  readonly requests: { readonly list: number; readonly files: number };
  readonly bytes: number;
  readonly hours: number;
}

/** The durable progress of an audit. Times are epoch milliseconds. */
export interface AuditRun extends AuditWanted {
  readonly by: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly step: 'list' | 'files' | 'ended' | 'stopped';
  /** Channels whose videos are listed one after the other; [null]: the whole account at once. Null: not known yet. */
  readonly channels: readonly (string | null)[] | null;
  /** Index in `channels`, and the next page of its list, from 1. */
  readonly channel: number;
  readonly page: number;
  /** Number of consecutive pages without a video that was not listed before. */
  readonly stalePages: number;
  /** Cursor of the last file examined. */
  readonly cursor: string | null;
  readonly files: number;
  readonly examined: number;
  readonly requests: number;
  readonly bytesRead: number;
  /** Videos with content that no row has; null until the list has been read. */
  readonly unknown: UnknownVideos | null;
}

export interface UnknownVideos {
  readonly count: number;
  /** The channels with the most of them; null: the service does not list by channel. */
  readonly channels: readonly { readonly channel: string | null; readonly videos: number }[];
  readonly first: readonly ListedVideo[];
}

export interface ListedVideo extends HostedVideo {
  readonly channel: string | null;
}

/** What an audit found about a file that is done. docs/audit.md says what each means. */
export type AuditKind =
  | 'gone'
  | 'unready'
  | 'edited'
  | 'doubled'
  | 'unanswered'
  | 'deletable'
  | 'changed'
  | 'unread'
  | 'missing';

export interface AuditFinding {
  readonly kind: AuditKind;
  readonly fileId: string;
  /** Details in words, null if there are none; of a `deletable` file, `comparedOf`. */
  readonly note: string | null;
}

/**
 * Returns what an audit compared, for its note. The note of a file that got another video or version since differs, so
 * the file is no longer `deletable`.
 */
export function comparedOf({ videoId, version }: Pick<Facts, 'videoId' | 'version'>): string {
  const { ino, birthtimeNs, size, mtimeNs, ctimeNs } = version;
  return [videoId, ino, birthtimeNs, size, mtimeNs, ctimeNs].join(' ');
}

/** The listed videos and the files that resemble a file's video. */
export interface ListedNear {
  /** The video as the list has it; null if it was on no page. */
  readonly own: ListedVideo | null;
  /** The first few listed videos that have its title and belong to no file. */
  readonly alike: readonly ListedVideo[];
  /** Files with the same hash and another video. */
  readonly twins: readonly { readonly path: string; readonly videoId: string }[];
}

/**
 * The durable state of an audit. Each write is one transaction, and repeating it changes nothing. The progress of an
 * audit that was stopped or replaced is not written.
 */
export interface AuditStore {
  /** Forgets the previous audit, and begins this one. */
  beginAudit(run: AuditRun): Promise<void>;
  /** @param next returns the progress from the number of videos that were not listed before; pure */
  addAudited(videos: readonly ListedVideo[], next: (fresh: number) => AuditRun): Promise<void>;
  addFindings(findings: readonly AuditFinding[], run: AuditRun): Promise<void>;
  listedNear(facts: Facts): Promise<ListedNear>;
  unknownVideos(): Promise<UnknownVideos>;
}

/** The findings of the last audit, ordered by file id. */
export interface AuditReader {
  countFindings(): Promise<Readonly<Partial<Record<AuditKind, number>>>>;
  findings(kind: AuditKind, limit: number, after: string): Promise<readonly AuditFinding[]>;
}

/** Name of the note with the `AuditRun`. */
export const auditNote = 'audit';
