import type { Channel } from '../store/channels.ts';
import type { Feed } from '../store/feeds.ts';
import type { Video } from '../store/videos.ts';
import type { Links } from './links.ts';

/** api-spec section 2.1. assumed: duration and thumbnail_url are null until the video is ready. */
export function videoListItem(video: Video, links: Links) {
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

/** assumed: a single video has all fields of api-spec section 2.1 but upload_url, null where not set, and says why it failed. */
export function wholeVideo(video: Video, links: Links) {
  return {
    ...videoListItem(video, links),
    description: video.description,
    channel_id: video.channelId,
    tags: video.tags,
    source_url: video.sourceUrl,
    ...(video.failure && { error: video.failure }),
  };
}

/** api-spec section 2.2. */
export function channelListItem(channel: Channel) {
  return {
    id: channel.id,
    name: channel.name,
    slug: channel.slug,
    video_count: channel.videoCount,
    created_at: isoTime(channel.createdAtMs),
  };
}

/** assumed: the answer to a change has the updatable fields too. */
export function wholeChannel(channel: Channel) {
  return {
    ...channelListItem(channel),
    description: channel.description,
    default_player_settings: channel.defaultPlayerSettings,
  };
}

/** api-spec section 2.3. assumed: last_published_at is null before the first publish. */
export function feedItem(feed: Feed, links: Links) {
  return {
    id: feed.id,
    name: feed.name,
    type: feed.type,
    channel_id: feed.channelId,
    url: links.feed(feed.id, feed.type),
    last_published_at: feed.lastPublishedAtMs === null ? null : isoTime(feed.lastPublishedAtMs),
  };
}

export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
