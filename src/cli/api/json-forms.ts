import type { AnalyticsOverview, Channel, Engagement, Feed, Period, Video, VideoListItem } from '@dropcast/client';

// Documents printed by `--json`. They use the API's field names (api-spec section 2), and null for anything the service
// omitted, so that all objects of a kind have the same keys.

export function videoForm(video: Video) {
  return {
    id: video.id,
    title: video.title ?? null,
    status: video.status,
    description: video.description ?? null,
    channel_id: video.channelId ?? null,
    tags: video.tags ?? null,
    duration: video.duration ?? null,
    created_at: video.createdAt ?? null,
    thumbnail_url: video.thumbnailUrl ?? null,
    embed_url: video.embedUrl ?? null,
    source_url: video.sourceUrl ?? null,
    message: video.message ?? null,
  };
}

/** Fields of a list entry (api-spec section 2.1). A missing field is omitted, not null. */
export function videoListForm(video: VideoListItem) {
  const { description, channelId, tags, sourceUrl, message } = video;
  return {
    id: video.id,
    title: video.title || null,
    status: video.status,
    duration: video.duration ?? null,
    created_at: video.createdAt || null,
    thumbnail_url: video.thumbnailUrl ?? null,
    embed_url: video.embedUrl || null,
    ...(description !== undefined && { description }),
    ...(channelId !== undefined && { channel_id: channelId }),
    ...(tags !== undefined && { tags }),
    ...(sourceUrl !== undefined && { source_url: sourceUrl }),
    ...(message !== undefined && { message }),
  };
}

export function channelForm(channel: Channel) {
  return {
    id: channel.id,
    name: channel.name || null,
    slug: channel.slug || null,
    video_count: channel.videoCount ?? null,
    created_at: channel.createdAt || null,
    description: channel.description ?? null,
    default_player_settings: channel.defaultPlayerSettings ?? null,
  };
}

export function feedForm(feed: Feed) {
  return {
    id: feed.id,
    name: feed.name || null,
    type: feed.type || null,
    channel_id: feed.channelId || null,
    url: feed.url || null,
    last_published_at: feed.lastPublishedAt ?? null,
  };
}

export function videoAnalyticsForm(record: Engagement) {
  return {
    video_id: record.videoId ?? null,
    period: periodForm(record.period),
    views: record.views,
    unique_viewers: record.uniqueViewers,
    avg_watch_time_seconds: record.avgWatchTimeSeconds,
    completion_rate: record.completionRate,
  };
}

export function overviewForm(record: AnalyticsOverview) {
  return {
    period: periodForm(record.period),
    total_views: record.totalViews,
    unique_viewers: record.uniqueViewers,
    top_videos: record.topVideos,
  };
}

/** The period as JSON. The client uses an empty string for a day that neither the request nor the answer names. */
function periodForm({ from, to }: Readonly<Record<keyof Period, string>>) {
  return { from: from || null, to: to || null };
}
