import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { nameField, textField } from '../http/input.ts';
import { wholeChannel } from '../http/wire.ts';
import type { Services } from '../services.ts';
import { idField, slugOf } from './fields.ts';

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
