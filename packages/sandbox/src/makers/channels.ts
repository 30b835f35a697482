import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { nameField, textField, idField, slugOf } from '../http/input.ts';
import { wholeChannel, feedItem } from '../http/wire.ts';
import type { Services } from '../services.ts';

/** Input for making a channel in a test. */
export type NewChannel = z.input<typeof newChannel>;

type Parts = Pick<Services, 'records' | 'clock' | 'events'>;

/** Makes a channel. @throws ApiError 409 for an existing id or slug, 422 for invalid fields */
export function makeChannel(fields: z.output<typeof newChannel>, { records: { channels }, clock, events }: Parts) {
  const slug = fields.slug ?? slugOf(fields.name);
  const id = fields.id ?? `ch_${slug}`;
  if (channels.find(id)) throw new ApiError('conflict', `Channel ${id} already exists: choose another id.`);
  const other = channels.list().find((channel) => channel.slug === slug);
  if (other !== undefined)
    throw new ApiError('conflict', `The channel ${other.id} already has the slug ${slug}: choose another slug.`);
  channels.add({ id, name: fields.name, slug, createdAtMs: clock.nowMs() });
  const made = channels.change(id, { description: fields.description });
  events.emit('channel.updated', id);
  if (made === undefined) throw new Error(`the channel ${id} is gone at once`);
  return wholeChannel(made);
}

/** Removes a channel. @throws ApiError 404, and 409 while it has videos or feeds */
export function removeChannel(id: string, { records: { channels, feeds, videos }, events }: Parts): void {
  if (!channels.find(id)) throw new ApiError('not_found', 'There is no such channel.');
  const count = videos.count({ channelId: id });
  const itsFeeds = feeds.list().filter((feed) => feed.channelId === id);
  if (count > 0 || itsFeeds.length > 0)
    throw new ApiError('conflict', `The channel has ${count} videos and ${itsFeeds.length} feeds: remove them first.`);
  channels.remove(id);
  events.emit('channel.updated', id);
}

export const newChannel = z.strictObject({
  name: nameField(200),
  id: idField('ch_').optional(),
  slug: z
    .string()
    .regex(/^[a-z0-9-]{1,100}$/, 'must be lower-case letters, digits and hyphens')
    .optional(),
  description: textField(10_000).optional(),
});

/** Input for making a feed in a test. */
export type NewFeed = z.input<typeof newFeed>;

type FeedParts = Pick<Services, 'records' | 'links' | 'events'>;

/**
 * Makes a feed for a channel; it is empty until it is published. @throws ApiError 409 for an existing id, 422 for
 * invalid fields
 */
export function makeFeed(fields: z.output<typeof newFeed>, { records: { feeds, channels }, links, events }: FeedParts) {
  const id = fields.id ?? `feed_${slugOf(fields.name)}`;
  if (feeds.find(id)) throw new ApiError('conflict', `Feed ${id} already exists: choose another id.`);
  if (!channels.find(fields.channel_id)) throw new ApiError('invalid_request', 'channel_id: there is no such channel.');
  feeds.add({ id, name: fields.name, type: fields.type, channelId: fields.channel_id });
  events.emit('channel.updated', fields.channel_id);
  const made = feeds.find(id);
  if (made === undefined) throw new Error(`the feed ${id} is gone at once`);
  return feedItem(made, links);
}

/** Removes a feed. @throws ApiError 404 */
export function removeFeed(id: string, { records: { feeds }, events }: FeedParts): void {
  const feed = feeds.find(id);
  if (!feed) throw new ApiError('not_found', 'There is no such feed.');
  feeds.remove(id);
  events.emit('channel.updated', feed.channelId);
}

export const newFeed = z.strictObject({
  name: nameField(200),
  type: z.enum(['mrss', 'podcast', 'ctv'], 'must be mrss, podcast or ctv').default('mrss'),
  channel_id: z.string('must be the id of a channel'),
  id: idField('feed_').optional(),
});
