import type * as wire from '../contract/types.gen.ts';
import type { Period } from '../analytics/period.ts';
import type { Channel } from '../store/channels.ts';
import type { Feed } from '../store/feeds.ts';
import type { Overview, VideoStatistics } from '../store/play-statistics.ts';
import type { Video } from '../store/videos.ts';
import type { Links } from './links.ts';

/** A video as in api-spec section 2.1. assumed: duration and thumbnail_url are null until the video is ready. */
export function videoListItem(video: Video, links: Links): wire.VideoListItem {
  return {
    id: video.id,
    title: video.title,
    status: video.status,
    duration: video.durationS === null ? null : Math.max(1, Math.round(video.durationS)),
    created_at: isoTime(video.createdAtMs),
    thumbnail_url: video.status === 'ready' ? links.thumbnail(video.id) : null,
    embed_url: links.embed(video.id),
  };
}

/**
 * assumed: a single video has all fields of api-spec section 2.1 except upload_url. Unset fields are null, and a failed
 * video also has its error.
 */
export function wholeVideo(video: Video, links: Links): wire.Video {
  return {
    ...videoListItem(video, links),
    description: video.description,
    channel_id: video.channelId,
    tags: [...video.tags],
    source_url: video.sourceUrl,
    ...(video.failure && { error: video.failure }),
  };
}

/** A channel as in api-spec section 2.2. */
export function channelListItem(channel: Channel): wire.ChannelListItem {
  return {
    id: channel.id,
    name: channel.name,
    slug: channel.slug,
    video_count: channel.videoCount,
    created_at: isoTime(channel.createdAtMs),
  };
}

/** assumed: the answer to a change includes the updatable fields. */
export function wholeChannel(channel: Channel): wire.Channel {
  return {
    ...channelListItem(channel),
    description: channel.description,
    default_player_settings: channel.defaultPlayerSettings,
  };
}

/** A feed as in api-spec section 2.3. assumed: last_published_at is null before the first publish. */
export function feedItem(feed: Feed, links: Links): wire.Feed {
  return {
    id: feed.id,
    name: feed.name,
    type: feed.type,
    channel_id: feed.channelId,
    url: links.feed(feed.id, feed.type),
    last_published_at: isoTimeOrNull(feed.lastPublishedAtMs),
  };
}

/** The answer to a publish, as in api-spec section 2.4. */
export function publishResult(feedId: string, publishedAtMs: number, videoCount: number): wire.PublishResult {
  return { feed_id: feedId, status: 'published', published_at: isoTime(publishedAtMs), video_count: videoCount };
}

/**
 * A video's statistics as in api-spec section 2.5. assumed: seconds are rounded to a thousandth and rates to four
 * decimals; 0 without views.
 */
export function videoAnalytics(video: VideoStatistics, period: Period): wire.VideoAnalytics {
  return {
    video_id: video.videoId,
    period: { from: period.from, to: period.to },
    views: video.views,
    unique_viewers: video.uniqueViewers,
    avg_watch_time_seconds: rounded(video.averageWatchS, 3),
    completion_rate: rounded(video.completionRate, 4),
  };
}

/** The overview as in api-spec section 2.5. */
export function overviewRecord(overview: Overview, period: Period): wire.AnalyticsOverview {
  return {
    period: { from: period.from, to: period.to },
    total_views: overview.totalViews,
    unique_viewers: overview.uniqueViewers,
    top_videos: overview.topVideos.map(({ id, title, views }) => ({ id, title, views })),
  };
}

function rounded(value: number, decimals: number): number {
  return Math.round(value * 10 ** decimals) / 10 ** decimals;
}

export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

export function isoTimeOrNull(atMs: number | null): string | null {
  return atMs === null ? null : isoTime(atMs);
}
