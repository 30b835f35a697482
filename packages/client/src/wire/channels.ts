import * as z from 'zod/mini';

import { Count, Id, Settings, Text } from './fields.ts';
import { many, one, renamed } from './reader.ts';
import type { Reader } from './reader.ts';

/** A channel. Only the id is guaranteed after an update, whose response the specification does not show. */
export interface Channel {
  readonly id: string;
  readonly name?: string;
  readonly slug?: string;
  readonly videoCount?: number;
  /** ISO 8601, as sent. */
  readonly createdAt?: string;
  readonly description?: string;
  readonly defaultPlayerSettings?: Readonly<Record<string, unknown>>;
}

/**
 * A channel in the list (api-spec section 4.2). Strings that the service omits, contrary to the specification, are
 * empty.
 */
export interface ChannelListItem extends Channel {
  readonly name: string;
  readonly slug: string;
  readonly createdAt: string;
}

const ChannelAnswer = z.object({
  id: Id,
  name: Text,
  slug: Text,
  video_count: Count,
  created_at: Text,
  description: Text,
  default_player_settings: Settings,
});

export const readChannel: Reader<Channel> = one(z.pipe(ChannelAnswer, z.transform(renamed)));

export const readChannels: Reader<readonly ChannelListItem[]> = many(
  z.pipe(
    ChannelAnswer,
    z.transform((wire: z.output<typeof ChannelAnswer>) => ({ name: '', slug: '', createdAt: '', ...renamed(wire) })),
  ),
);
