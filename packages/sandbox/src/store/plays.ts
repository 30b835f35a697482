import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { number, text, type Row } from './columns.ts';

/** How a play was detected: by an embed page's reports, by reads of the media file, or invented by `seedHistory`. */
type PlaySource = 'embed' | 'read' | 'history';

/** One play = one view. */
export interface Play {
  readonly id: string;
  readonly videoId: string;
  /** Opaque name of the viewer, the same for all plays of one viewer. */
  readonly viewer: string;
  readonly source: PlaySource;
  readonly startedAtMs: number;
  readonly watchedS: number;
  readonly isComplete: boolean;
}

export type WatchProgress = Pick<Play, 'watchedS' | 'isComplete'>;

/** Records who watched which video, when, and how far. */
export class PlayStore {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare(
      `INSERT INTO plays (id, video_id, viewer, source, started_at_ms, watched_s, is_complete)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    );
  }

  /** Adds a play. @returns false if a play with this id exists; the existing play stays unchanged */
  add({ id, videoId, viewer, source, startedAtMs, watchedS, isComplete }: Play): boolean {
    return this.#insert.run(id, videoId, viewer, source, startedAtMs, watchedS, isComplete ? 1 : 0).changes > 0;
  }

  /** Returns the number of the last added play that still exists; 0 if there is none. */
  lastNumber(): number {
    return number(this.#database.prepare('SELECT COALESCE(MAX(number), 0) AS last FROM plays').get() ?? {}, 'last');
  }

  find(id: string): Play | undefined {
    const row = this.#database.prepare('SELECT * FROM plays WHERE id = ?').get(id);
    return row && toPlay(row);
  }

  /** Returns the viewer's last play of the video that was detected by reads and began at `sinceMs` or later. */
  latestRead(videoId: string, viewer: string, sinceMs: number): Play | undefined {
    const row = this.#database
      .prepare(
        `SELECT * FROM plays WHERE video_id = ? AND viewer = ? AND started_at_ms >= ? AND source = 'read'
         ORDER BY started_at_ms DESC LIMIT 1`,
      )
      .get(videoId, viewer, sinceMs);
    return row && toPlay(row);
  }

  /** Raises the progress of a play. Progress only grows: a late or repeated report changes nothing. */
  raise(id: string, { watchedS, isComplete }: WatchProgress): void {
    this.#database
      .prepare('UPDATE plays SET watched_s = MAX(watched_s, ?), is_complete = MAX(is_complete, ?) WHERE id = ?')
      .run(watchedS, isComplete ? 1 : 0, id);
  }

  /** Deletes the plays of a deleted video (api-spec section 3). */
  forget(videoId: string): void {
    this.#database.prepare('DELETE FROM plays WHERE video_id = ?').run(videoId);
  }
}

function toPlay(row: Row): Play {
  return {
    id: text(row, 'id'),
    videoId: text(row, 'video_id'),
    viewer: text(row, 'viewer'),
    source: text(row, 'source') as PlaySource,
    startedAtMs: number(row, 'started_at_ms'),
    watchedS: number(row, 'watched_s'),
    isComplete: number(row, 'is_complete') === 1,
  };
}
