import type { DatabaseSync } from 'node:sqlite';
import { numberOrNull, text, type Row } from './columns.ts';

export interface Feed {
  readonly id: string;
  readonly name: string;
  /** assumed: 'podcast' and 'ctv' beside the 'mrss' that api-spec section 2.3 gives. */
  readonly type: 'mrss' | 'podcast' | 'ctv';
  readonly channelId: string;
  readonly lastPublishedAtMs: number | null;
}

/** The distribution feeds of the account, in the order of their creation. */
export class FeedStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  add(feed: Omit<Feed, 'lastPublishedAtMs'>): void {
    this.#database
      .prepare('INSERT INTO feeds (id, name, type, channel_id) VALUES (?, ?, ?, ?)')
      .run(feed.id, feed.name, feed.type, feed.channelId);
  }

  list(): Feed[] {
    return this.#database.prepare('SELECT * FROM feeds ORDER BY number').all().map(toFeed);
  }

  find(id: string): Feed | undefined {
    const row = this.#database.prepare('SELECT * FROM feeds WHERE id = ?').get(id);
    return row && toFeed(row);
  }

  /** Takes a video out of every feed. */
  drop(videoId: string): void {
    this.#database.prepare('DELETE FROM feed_items WHERE video_id = ?').run(videoId);
  }

  markPublished(id: string, atMs: number): void {
    this.#database.prepare('UPDATE feeds SET last_published_at_ms = ? WHERE id = ?').run(atMs, id);
  }
}

function toFeed(row: Row): Feed {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    type: text(row, 'type') as Feed['type'],
    channelId: text(row, 'channel_id'),
    lastPublishedAtMs: numberOrNull(row, 'last_published_at_ms'),
  };
}
