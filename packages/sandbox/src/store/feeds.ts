import type { DatabaseSync } from 'node:sqlite';
import type { Channel } from './channels.ts';
import { number, numberOrNull, text, textOrNull, type Row } from './columns.ts';
import { inTransaction } from './database.ts';
import { mediaIn, type VideoMedia } from './videos.ts';

/** assumed: 'podcast' and 'ctv', in addition to the documented 'mrss' (api-spec section 2.3). */
export type FeedType = 'mrss' | 'podcast' | 'ctv';

export interface Feed {
  readonly id: string;
  readonly name: string;
  readonly type: FeedType;
  readonly channelId: string;
  readonly lastPublishedAtMs: number | null;
  /** Null before the first publish. */
  readonly publication: Publication | null;
}

/** The channel's texts in the feed, as of the last publish. */
interface Publication {
  readonly channelName: string;
  readonly channelDescription: string | null;
  /** When the document last changed: at the publish, or when a video was deleted later. */
  readonly changedAtMs: number;
  /** Assigned by the first publish and kept by later ones. */
  readonly podcastGuid: string;
}

/**
 * A video in a feed, with its texts as of the last publish. The video's bytes never change, so their facts are not
 * stored again.
 */
export interface FeedItem {
  readonly videoId: string;
  readonly title: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly createdAtMs: number;
  readonly media: VideoMedia;
}

/** The account's distribution feeds, in creation order. */
export class FeedStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  add(feed: Omit<Feed, 'lastPublishedAtMs' | 'publication'>): void {
    this.#database
      .prepare('INSERT INTO feeds (id, name, type, channel_id) VALUES (?, ?, ?, ?)')
      .run(feed.id, feed.name, feed.type, feed.channelId);
  }

  /** Removes a feed with its items. @returns false if it does not exist */
  remove(id: string): boolean {
    return inTransaction(this.#database, () => {
      this.#database.prepare('DELETE FROM feed_items WHERE feed_id = ?').run(id);
      return this.#database.prepare('DELETE FROM feeds WHERE id = ?').run(id).changes > 0;
    });
  }

  list(): Feed[] {
    return this.#database.prepare('SELECT * FROM feeds ORDER BY number').all().map(toFeed);
  }

  find(id: string): Feed | undefined {
    const row = this.#database.prepare('SELECT * FROM feeds WHERE id = ?').get(id);
    return row && toFeed(row);
  }

  /**
   * Replaces the feed's items with the channel's newest eligible videos, at most `MAX_ITEMS`, atomically.
   * @param podcastGuid stored at the first publish only @returns the number of items
   */
  publish(feed: Feed, channel: Pick<Channel, 'name' | 'description'>, time: PublishTime): number {
    return inTransaction(this.#database, () => {
      this.#database.prepare('DELETE FROM feed_items WHERE feed_id = ?').run(feed.id);
      const { changes } = this.#database.prepare(takeVideos(feed.type)).run(feed.id, feed.channelId, MAX_ITEMS);
      this.#database
        .prepare(
          `UPDATE feeds SET last_published_at_ms = :atMs, changed_at_ms = :atMs, channel_name = :name,
             channel_description = :description, podcast_guid = COALESCE(podcast_guid, :podcastGuid) WHERE id = :id`,
        )
        .run({ ...time, id: feed.id, name: channel.name, description: channel.description });
      return Number(changes);
    });
  }

  count(id: string): number {
    const row = this.#database.prepare('SELECT COUNT(*) AS total FROM feed_items WHERE feed_id = ?').get(id);
    return number(row ?? {}, 'total');
  }

  /**
   * Returns one page of items, newest first. Skipping earlier items does not load their videos, so a late page costs
   * little more than the first.
   */
  items(id: string, { limit, offset }: { limit: number; offset: number }): FeedItem[] {
    const rows = this.#database
      .prepare(
        `SELECT videos.*, item.title AS said_title, item.description AS said_description, item.tags AS said_tags
         FROM (SELECT * FROM feed_items WHERE feed_id = ? ORDER BY position LIMIT ? OFFSET ?) AS item
           JOIN videos ON videos.id = item.video_id
         ORDER BY item.position`,
      )
      .all(id, limit, offset);
    return rows.map(toItem);
  }

  /** Returns the feeds that contain the video. */
  with(videoId: string): Feed[] {
    const itsFeeds = 'SELECT feed_id FROM feed_items WHERE video_id = ?';
    return this.#database
      .prepare(`SELECT * FROM feeds WHERE id IN (${itsFeeds}) ORDER BY number`)
      .all(videoId)
      .map(toFeed);
  }

  /** Removes a video from every feed. */
  drop(videoId: string, nowMs: number): void {
    this.#database
      .prepare('UPDATE feeds SET changed_at_ms = ? WHERE id IN (SELECT feed_id FROM feed_items WHERE video_id = ?)')
      .run(nowMs, videoId);
    this.#database.prepare('DELETE FROM feed_items WHERE video_id = ?').run(videoId);
  }
}

interface PublishTime {
  readonly atMs: number;
  readonly podcastGuid: string;
}

/**
 * assumed: a feed holds the newest 100,000 videos of its channel. One statement copies them and blocks everything else
 * for about a second.
 */
const MAX_ITEMS = 100_000;

/** Builds the INSERT of a feed's items, in the order of GET /videos. */
function takeVideos(type: FeedType): string {
  return `INSERT INTO feed_items (feed_id, position, video_id, title, description, tags)
    SELECT ?, ROW_NUMBER() OVER (ORDER BY created_at_ms DESC, number DESC), id, title, description, tags FROM
      (SELECT * FROM videos WHERE channel_id = ? AND status = 'ready' AND ${ELIGIBLE[type]}
       ORDER BY created_at_ms DESC, number DESC LIMIT ?)`;
}

/**
 * Conditions for the ready videos in a feed. assumed, based on what each type's readers play: MRSS, any video with
 * pictures or sound; podcast, the enclosure types in PSP-1, and QuickTime, which Apple also accepts; CTV, videos with
 * pictures and a known duration in a container that Roku's `videoType` can name.
 */
const ELIGIBLE: Readonly<Record<FeedType, string>> = {
  mrss: '(video_codec IS NOT NULL OR audio_codec IS NOT NULL)',
  podcast: `media_type IN ('audio/mpeg', 'audio/mp4', 'audio/m4a', 'audio/x-m4a', 'video/mp4', 'video/m4v', 'video/x-m4v',
    'video/quicktime')`,
  ctv: `video_codec IS NOT NULL AND duration_s IS NOT NULL AND file_extension IN ('mp4', 'mov', 'm4v')`,
};

function toFeed(row: Row): Feed {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    type: text(row, 'type') as FeedType,
    channelId: text(row, 'channel_id'),
    lastPublishedAtMs: numberOrNull(row, 'last_published_at_ms'),
    publication: row['last_published_at_ms'] === null ? null : toPublication(row),
  };
}

function toPublication(row: Row): Publication {
  return {
    channelName: text(row, 'channel_name'),
    channelDescription: textOrNull(row, 'channel_description'),
    changedAtMs: number(row, 'changed_at_ms'),
    podcastGuid: text(row, 'podcast_guid'),
  };
}

function toItem(row: Row): FeedItem {
  return {
    videoId: text(row, 'id'),
    title: text(row, 'said_title'),
    description: textOrNull(row, 'said_description'),
    tags: JSON.parse(text(row, 'said_tags')) as string[],
    createdAtMs: number(row, 'created_at_ms'),
    media: mediaIn(row),
  };
}
