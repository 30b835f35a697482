import type { FeedList } from '../contract/types.gen.ts';
import { podcastGuid } from '../feeds/podcast.ts';
import type { Channel } from '../store/channels.ts';
import { inTransaction } from '../store/database.ts';
import type { Feed } from '../store/feeds.ts';
import type { Services } from '../services.ts';
import type { Handler } from './handler.ts';
import { ApiError } from './api-error.ts';
import { noBody } from './input.ts';
import { feedItem, publishResult } from './wire.ts';

/** GET /feeds: all feeds, oldest first (assumed). */
export function listFeeds({ records: { feeds }, links }: Pick<Services, 'records' | 'links'>): Handler {
  return (context) => context.json({ data: feeds.list().map((feed) => feedItem(feed, links)) } satisfies FeedList);
}

type PublishParts = Pick<Services, 'records' | 'lifecycle' | 'clock' | 'events' | 'links' | 'switchboard'>;

/**
 * POST /feeds/:id/publish. assumed: 200; the eligible videos are the newest ready ones in the feed's channel that its
 * readers can play, with their texts at publish time; `video_count` counts those videos.
 */
export function publishFeed({ records, lifecycle, clock, events, links, switchboard }: PublishParts): Handler {
  return async (context) => {
    const id = context.req.param('id') ?? '';
    feedAndChannel(records, id);
    await noBody(context.req.raw, switchboard.now.unknown_fields);
    const { feed, channel } = feedAndChannel(records, id); // as they are now: a body may take its time
    lifecycle.advance();
    const atMs = clock.nowMs();
    const time = { atMs, podcastGuid: podcastGuid(links.feed(feed.id, feed.type)) };
    const itemCount = inTransaction(records.database, () => {
      const published = records.feeds.publish(feed, channel, time);
      events.emit('feed.published', feed.id);
      return published;
    });
    return context.json(publishResult(feed.id, atMs, itemCount));
  };
}

function feedAndChannel({ feeds, channels }: PublishParts['records'], id: string): { feed: Feed; channel: Channel } {
  const feed = feeds.find(id);
  const channel = feed && channels.find(feed.channelId);
  if (!channel) throw new ApiError('not_found', 'There is no such feed.');
  return { feed, channel };
}
