import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { nameField } from '../http/input.ts';
import { feedItem } from '../http/wire.ts';
import type { Services } from '../services.ts';
import { idField, slugOf } from './fields.ts';

/** Input for making a feed in a test. */
export type NewFeed = z.input<typeof newFeed>;

type Parts = Pick<Services, 'records' | 'links' | 'events'>;

/**
 * Makes a feed for a channel; it is empty until it is published. @throws ApiError 409 for an existing id, 422 for
 * invalid fields
 */
export function makeFeed(fields: z.output<typeof newFeed>, { records: { feeds, channels }, links, events }: Parts) {
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
export function removeFeed(id: string, { records: { feeds }, events }: Parts): void {
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
