import type { World } from '../world.ts';
import type { Handler } from './handler.ts';
import { ApiError } from './api-error.ts';
import { noBody } from './input.ts';
import { feedItem, isoTime } from './wire.ts';

/** GET /feeds: all of them, in the order of their creation (assumed). */
export function listFeeds({ records: { feeds }, links }: Pick<World, 'records' | 'links'>): Handler {
  return (context) => context.json({ data: feeds.list().map((feed) => feedItem(feed, links)) });
}

type PublishParts = Pick<World, 'records' | 'lifecycle' | 'clock' | 'events'>;

/** POST /feeds/:id/publish. assumed: 200; the eligible videos are the ready ones of the feed's channel. */
export function publishFeed({ records, lifecycle, clock, events }: PublishParts): Handler {
  const { feeds, videos } = records;
  return async (context) => {
    const feed = feeds.find(context.req.param('id') ?? '');
    if (!feed) throw new ApiError('not_found', 'There is no such feed.');
    await noBody(context.req.raw);
    lifecycle.advance();
    const publishedAtMs = clock.nowMs();
    feeds.markPublished(feed.id, publishedAtMs);
    events.emit('feed.published', feed.id);
    return context.json({
      feed_id: feed.id,
      status: 'published',
      published_at: isoTime(publishedAtMs),
      video_count: videos.count({ channelId: feed.channelId, status: 'ready' }),
    });
  };
}
