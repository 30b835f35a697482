import type { DatabaseSync } from 'node:sqlite';
import { DAY_MS, dayOf, daysOf, spanOf, type Period } from '../analytics/period.ts';
import { number, numberOrNull, text } from './columns.ts';

export interface VideoStatistics {
  readonly videoId: string;
  readonly views: number;
  readonly uniqueViewers: number;
  /** Average time watched, in seconds; 0 without views. */
  readonly averageWatchS: number;
  /** Share of plays that were complete, 0 to 1; 0 without views. */
  readonly completionRate: number;
}

export interface Overview {
  readonly totalViews: number;
  readonly uniqueViewers: number;
  /** At most 10, most views first, ties by id. Excludes videos without views. */
  readonly topVideos: readonly TopVideo[];
}

export interface TopVideo {
  readonly id: string;
  readonly title: string;
  readonly views: number;
}

export interface DailyViews {
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly views: number;
}

/** Selects plays: all, those of a channel's videos, or those of one video. */
interface PlayFilter {
  readonly channelId?: string | undefined;
  readonly videoId?: string | undefined;
}

/**
 * Totals over the plays. Every query reads only an index. Measured with 1,000,000 plays of 1,000 videos in a year, on a
 * busy machine with two cores: 0.1 s for the overview of 30 days and 0.7 s for 366 days, 0.01 to 0.1 s for one video.
 */
export class PlayStatistics {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  ofVideo(videoId: string, period: Period): VideoStatistics {
    const { where, values } = conditionOf({ videoId }, period);
    const row = this.#database
      .prepare(
        `SELECT COUNT(*) AS views, COUNT(DISTINCT viewer) AS viewers, AVG(watched_s) AS watched_s, AVG(is_complete) AS complete
         FROM plays WHERE ${where}`,
      )
      .get(...values);
    return {
      videoId,
      views: number(row ?? {}, 'views'),
      uniqueViewers: number(row ?? {}, 'viewers'),
      averageWatchS: numberOrNull(row ?? {}, 'watched_s') ?? 0,
      completionRate: numberOrNull(row ?? {}, 'complete') ?? 0,
    };
  }

  /**
   * Returns one page of all videos, including those without views: most views first, ties by id. @param page 1 and up
   */
  ofVideos(channelId: string | undefined, period: Period, page: { page: number; perPage: number }): VideoStatistics[] {
    const section = { limit: page.perPage, offset: (page.page - 1) * page.perPage };
    return this.#ranking(channelId, period, section).map(({ id }) => this.ofVideo(id, period));
  }

  /** Returns the statistics of the whole account, or of one channel. */
  overview(channelId: string | undefined, period: Period): Overview {
    const { where, values } = conditionOf({ channelId }, period);
    // Grouping by viewer is twice as fast as COUNT(DISTINCT viewer) over the same rows.
    const row = this.#database
      .prepare(
        `SELECT COALESCE(SUM(views), 0) AS views, COUNT(*) AS viewers
         FROM (SELECT COUNT(*) AS views FROM plays WHERE ${where} GROUP BY viewer)`,
      )
      .get(...values);
    const ranking = this.#ranking(channelId, period, { limit: MAX_TOP_VIDEOS, offset: 0 });
    return {
      totalViews: number(row ?? {}, 'views'),
      uniqueViewers: number(row ?? {}, 'viewers'),
      topVideos: ranking.filter(({ views }) => views > 0),
    };
  }

  /** Returns every day of the period in order, including days without views. */
  dailyViews(filter: PlayFilter, period: Period): DailyViews[] {
    const { where, values } = conditionOf(filter, period);
    const rows = this.#database
      .prepare(`SELECT started_at_ms / ${DAY_MS} AS day, COUNT(*) AS views FROM plays WHERE ${where} GROUP BY day`)
      .all(...values);
    const viewsOf = new Map(rows.map((row) => [dayOf(number(row, 'day') * DAY_MS), number(row, 'views')]));
    return daysOf(period).map((date) => ({ date, views: viewsOf.get(date) ?? 0 }));
  }

  /**
   * Ranks videos by views. Counting per video follows the index; grouping all plays by video would sort them first and
   * take five times as long.
   */
  #ranking(channelId: string | undefined, period: Period, section: { limit: number; offset: number }): TopVideo[] {
    const { fromMs, beforeMs } = spanOf(period);
    const [where, values] = channelId === undefined ? ['', []] : ['WHERE channel_id = ?', [channelId]];
    const views = 'SELECT COUNT(*) FROM plays WHERE video_id = videos.id AND started_at_ms >= ? AND started_at_ms < ?';
    const ranked = `SELECT id, (${views}) AS views FROM videos ${where} ORDER BY views DESC, id LIMIT ? OFFSET ?`;
    const rows = this.#database
      .prepare(
        `SELECT ranked.id, videos.title, ranked.views FROM (${ranked}) AS ranked JOIN videos ON videos.id = ranked.id
         ORDER BY ranked.views DESC, ranked.id`,
      )
      .all(fromMs, beforeMs, ...values, section.limit, section.offset);
    return rows.map((row) => ({ id: text(row, 'id'), title: text(row, 'title'), views: number(row, 'views') }));
  }
}

/** assumed: the specification does not state a number (api-spec section 2.5). */
const MAX_TOP_VIDEOS = 10;

function conditionOf({ channelId, videoId }: PlayFilter, period: Period) {
  const { fromMs, beforeMs } = spanOf(period);
  const conditions = [
    'started_at_ms >= ? AND started_at_ms < ?',
    ...(videoId === undefined ? [] : ['video_id = ?']),
    ...(channelId === undefined ? [] : ['video_id IN (SELECT id FROM videos WHERE channel_id = ?)']),
  ];
  const names = [videoId, channelId].filter((name) => name !== undefined);
  return { where: conditions.join(' AND '), values: [fromMs, beforeMs, ...names] };
}
