import { z } from 'zod';
import type { ChannelAnswer, ChannelList, FeedList } from '../contract/types.gen.ts';
import type { Services } from '../services.ts';
import { ApiError } from './api-error.ts';
import { isShallow } from '../inspector/nesting.ts';
import { jsonBody, nameField, textField, type Handler, noBody } from './input.ts';
import { channelListItem, wholeChannel, feedItem, publishResult } from './wire.ts';
import { podcastGuid } from '../feeds/podcast.ts';
import type { Channel } from '../store/channels.ts';
import { inTransaction } from '../store/database.ts';
import type { Feed } from '../store/feeds.ts';

/** GET /channels: all channels, in creation order (assumed). */
export function listChannels({ records: { channels } }: Pick<Services, 'records'>): Handler {
  return (context) => context.json({ data: channels.list().map(channelListItem) } satisfies ChannelList);
}

/**
 * PATCH /channels/:id. assumed: answers with the changed channel; the slug stays; the settings are replaced as a whole.
 */
export function updateChannel({
  records: { channels },
  events,
  switchboard,
}: Pick<Services, 'records' | 'events' | 'switchboard'>): Handler {
  return async (context) => {
    const id = context.req.param('id') ?? '';
    if (!channels.find(id)) throw noSuchChannel();
    const body = await jsonBody(context.req.raw, updateBody, { unknown: switchboard.now.unknown_fields });
    const channel = channels.change(id, {
      name: body.name,
      description: body.description,
      defaultPlayerSettings: body.default_player_settings,
    });
    if (!channel) throw noSuchChannel();
    events.emit('channel.updated', id);
    return context.json({ data: wholeChannel(channel) } satisfies ChannelAnswer);
  };
}

const MAX_DEPTH = 32;

const updateBody = z.strictObject({
  name: nameField(200).optional(),
  description: textField(10_000).optional(),
  // assumed: any object of limited depth, because the specification does not show the inner structure (api-spec section
  // 2.2).
  default_player_settings: z
    .custom<Record<string, unknown>>(isPlainObject, 'must be an object')
    .refine((value) => isShallow(value, MAX_DEPTH), `must not be nested deeper than ${MAX_DEPTH} levels`)
    .optional(),
});

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function noSuchChannel(): ApiError {
  return new ApiError('not_found', 'There is no such channel.');
}

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
