import { z } from 'zod';
import type { ChannelAnswer, ChannelList } from '../contract/types.gen.ts';
import type { Services } from '../services.ts';
import type { Handler } from './handler.ts';
import { ApiError } from './api-error.ts';
import { isShallow } from '../inspector/nesting.ts';
import { jsonBody, nameField, textField } from './input.ts';
import { channelListItem, wholeChannel } from './wire.ts';

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
