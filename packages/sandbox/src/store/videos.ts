import type { DatabaseSync } from 'node:sqlite';
import { number, numberOrNull, text, textOrNull, type Row } from './columns.ts';
import { KnownLists, type KnownList, type ListPosition } from './known-lists.ts';
import type { Container, MediaFacts } from '../media/media-report.ts';

export type VideoStatus = 'pending' | 'processing' | 'ready' | 'failed';

export interface Video {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly channelId: string;
  readonly tags: readonly string[];
  readonly sourceUrl: string | null;
  readonly createdAtMs: number;
  /** When the upload was complete. `endedAtMs`: when the video became ready or failed. */
  readonly uploadedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly status: VideoStatus;
  /** Set for a ready video if its container states the duration. */
  readonly durationS: number | null;
  /** Facts about the file. Set for ready videos only, because they are not public earlier. */
  readonly media: VideoMedia | null;
  /** Set for a failed video. */
  readonly failure: Failure | null;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** Facts about the media and its stored file. */
export interface VideoMedia extends MediaFacts {
  readonly sizeBytes: number;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
}

/** The stored bytes of a video. */
export interface StoredFile {
  readonly videoId: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export type NewVideo = Omit<Video, 'id' | 'status' | 'durationS' | 'media' | 'failure' | 'uploadedAtMs' | 'endedAtMs'>;

/** Changes to a video. Undefined fields stay unchanged. */
interface VideoChange {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface VideoFilter {
  readonly channelId?: string | undefined;
  readonly status?: VideoStatus | undefined;
}

/** The video records. `ProcessingStore` changes their status. */
export class VideoStore {
  readonly #database: DatabaseSync;
  readonly #lists: KnownLists;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#lists = new KnownLists(database);
  }

  /** Adds a pending video. `idOf` receives the video's number, which is never reused, even after a deletion. */
  create(video: NewVideo, idOf: (number: number) => string): string {
    const last = this.#database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'videos'").get();
    const id = idOf(Number(last?.['seq'] ?? 0) + 1);
    this.#database
      .prepare(
        `INSERT INTO videos (id, title, description, channel_id, tags, source_url, created_at_ms, status)
         VALUES (?, ?, ?, ?, ?, ?, ?, 'pending')`,
      )
      .run(
        id,
        video.title,
        video.description,
        video.channelId,
        JSON.stringify(video.tags),
        video.sourceUrl,
        video.createdAtMs,
      );
    return id;
  }

  find(id: string): Video | undefined {
    const row = this.#database.prepare('SELECT * FROM videos WHERE id = ?').get(id);
    return row && toVideo(row);
  }

  /** Returns one page, newest first, and the total number of matching videos. */
  page(filter: VideoFilter, page: number, perPage: number): { videos: Video[]; total: number } {
    const list = this.#list(filter);
    const offset = (page - 1) * perPage;
    const before = list.startAfter(offset);
    const { where, values } = conditionOf(filter, before);
    // The inner query reads only an index, so rows before the page, which may hold long texts, are never read.
    const newest = `SELECT number FROM videos${where} ORDER BY created_at_ms DESC, number DESC LIMIT ? OFFSET ?`;
    const rows = this.#database
      .prepare(`SELECT * FROM videos WHERE number IN (${newest}) ORDER BY created_at_ms DESC, number DESC`)
      .all(...values, perPage, before ? 0 : offset);
    const last = rows.at(-1);
    if (last) list.remember(offset + rows.length, placeOf(last));
    return { videos: rows.map(toVideo), total: list.total };
  }

  /**
   * Returns one page, oldest first, for a service that lists videos that way. Each page costs as much as all pages
   * before it.
   */
  pageFromOldest(filter: VideoFilter, page: number, perPage: number): { videos: Video[]; total: number } {
    const { where, values } = conditionOf(filter);
    const rows = this.#database
      .prepare(`SELECT * FROM videos${where} ORDER BY created_at_ms, number LIMIT ? OFFSET ?`)
      .all(...values, perPage, (page - 1) * perPage);
    return { videos: rows.map(toVideo), total: this.count(filter) };
  }

  count(filter: VideoFilter): number {
    return this.#list(filter).total;
  }

  /** Counts the videos created at or after a time (epoch milliseconds) that have not been deleted. */
  countSince(fromMs: number): number {
    const row = this.#database.prepare('SELECT COUNT(*) AS total FROM videos WHERE created_at_ms >= ?').get(fromMs);
    return number(row ?? {}, 'total');
  }

  #list(filter: VideoFilter): KnownList {
    return this.#lists.get(JSON.stringify([filter.channelId, filter.status]), () => {
      const { where, values } = conditionOf(filter);
      const row = this.#database.prepare(`SELECT COUNT(*) AS total FROM videos${where}`).get(...values);
      return number(row ?? {}, 'total');
    });
  }

  /** Changes a video. @returns the changed video; undefined if it does not exist */
  change(id: string, change: VideoChange): Video | undefined {
    const before = this.find(id);
    if (!before) return undefined;
    const after = {
      ...before,
      title: change.title ?? before.title,
      description: change.description ?? before.description,
      tags: change.tags ?? before.tags,
    };
    this.#database
      .prepare('UPDATE videos SET title = ?, description = ?, tags = ? WHERE id = ?')
      .run(after.title, after.description, JSON.stringify(after.tags), id);
    return after;
  }

  /**
   * Sets a pending video's creation time, or a duration that differs from its future file's. Undefined values change
   * nothing.
   */
  adjust(
    id: string,
    { createdAtMs, durationS }: { createdAtMs?: number | undefined; durationS?: number | undefined },
  ): void {
    this.#database
      .prepare(
        'UPDATE videos SET created_at_ms = COALESCE(?, created_at_ms), duration_s = COALESCE(?, duration_s) WHERE id = ?',
      )
      .run(createdAtMs ?? null, durationS ?? null, id);
  }

  /** Removes a video. @returns false if it does not exist */
  remove(id: string): boolean {
    return this.#database.prepare('DELETE FROM videos WHERE id = ?').run(id).changes > 0;
  }

  /** Returns videos whose source_url has not been imported yet, oldest first. */
  awaitingImport(): Video[] {
    return this.#database
      .prepare("SELECT * FROM videos WHERE status = 'pending' AND source_url IS NOT NULL ORDER BY number")
      .all()
      .map(toVideo);
  }

  files(): StoredFile[] {
    // Avoids `SELECT *`, which would load the texts of 100,000 videos into memory.
    const rows = this.#database
      .prepare('SELECT id, file_size_bytes, file_sha256 FROM videos WHERE file_sha256 IS NOT NULL ORDER BY number')
      .all();
    return rows.map((row) => ({
      videoId: text(row, 'id'),
      sizeBytes: number(row, 'file_size_bytes'),
      sha256: text(row, 'file_sha256'),
    }));
  }
}

/** Builds the WHERE clause of a list. @param before limits the list to videos that come after this position */
function conditionOf(
  filter: VideoFilter,
  before: ListPosition | null = null,
): { where: string; values: (string | number)[] } {
  const conditions: (readonly [string, ...(string | number)[]])[] = [
    ...(filter.channelId === undefined ? [] : [['channel_id = ?', filter.channelId] as const]),
    ...(filter.status === undefined ? [] : [['status = ?', filter.status] as const]),
    ...(before === null ? [] : [['(created_at_ms, number) < (?, ?)', before.createdAtMs, before.number] as const]),
  ];
  const where = conditions.map(([condition]) => condition).join(' AND ');
  return { where: where && ` WHERE ${where}`, values: conditions.flatMap(([, ...values]) => values) };
}

function placeOf(row: Row): ListPosition {
  return { createdAtMs: number(row, 'created_at_ms'), number: number(row, 'number') };
}

function toVideo(row: Row): Video {
  const status = text(row, 'status') as VideoStatus;
  const code = textOrNull(row, 'failure_code');
  return {
    id: text(row, 'id'),
    title: text(row, 'title'),
    description: textOrNull(row, 'description'),
    channelId: text(row, 'channel_id'),
    tags: JSON.parse(text(row, 'tags')) as string[],
    sourceUrl: textOrNull(row, 'source_url'),
    createdAtMs: number(row, 'created_at_ms'),
    uploadedAtMs: numberOrNull(row, 'uploaded_at_ms'),
    endedAtMs: numberOrNull(row, 'ended_at_ms'),
    status,
    durationS: status === 'ready' ? numberOrNull(row, 'duration_s') : null,
    media: status === 'ready' ? mediaIn(row) : null,
    failure: status === 'failed' && code !== null ? { code, message: text(row, 'failure_message') } : null,
  };
}

/** Reads the media facts from a ready video's row. */
export function mediaIn(row: Row): VideoMedia {
  return {
    container: text(row, 'container') as Container,
    mediaType: text(row, 'media_type'),
    fileExtension: text(row, 'file_extension'),
    durationS: numberOrNull(row, 'duration_s'),
    width: numberOrNull(row, 'width'),
    height: numberOrNull(row, 'height'),
    videoCodec: textOrNull(row, 'video_codec'),
    audioCodec: textOrNull(row, 'audio_codec'),
    bitRate: numberOrNull(row, 'bit_rate'),
    frameRate: numberOrNull(row, 'frame_rate'),
    sizeBytes: number(row, 'file_size_bytes'),
    sha256: text(row, 'file_sha256'),
  };
}
