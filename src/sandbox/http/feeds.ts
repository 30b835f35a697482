import type { Lifecycle } from '../lifecycle.ts';
import type { FeedStore } from '../store/feeds.ts';
import type { VideoStore } from '../store/videos.ts';
import type { Handler } from './handler.ts';
import { ApiError } from './api-error.ts';
import { noBody } from './input.ts';
import type { Links } from './links.ts';
import { feedItem, isoTime } from './wire.ts';

export interface FeedParts {
  readonly feeds: FeedStore;
  readonly videos: VideoStore;
  readonly lifecycle: Lifecycle;
  readonly links: Links;
  readonly nowMs: () => number;
}

/** GET /feeds: all of them, in the order of their creation (assumed). */
export function listFeeds({ feeds, links }: FeedParts): Handler {
  return (context) => context.json({ data: feeds.list().map((feed) => feedItem(feed, links)) });
}

/** POST /feeds/:id/publish. assumed: 200; the eligible videos are the ready ones of the feed's channel. */
export function publishFeed({ feeds, videos, lifecycle, nowMs }: FeedParts): Handler {
  return async (context) => {
    const feed = feeds.find(context.req.param('id') ?? '');
    if (!feed) throw new ApiError('not_found', 'There is no such feed.');
    await noBody(context.req.raw);
    lifecycle.advance();
    const publishedAtMs = nowMs();
    feeds.markPublished(feed.id, publishedAtMs);
    return context.json({
      feed_id: feed.id,
      status: 'published',
      published_at: isoTime(publishedAtMs),
      video_count: videos.count({ channelId: feed.channelId, status: 'ready' }),
    });
  };
}
