import * as z from 'zod/mini';

import { Address, Count, Id, Text } from './fields.ts';
import { orMissing } from './or-missing.ts';
import { oneOf } from './known-word.ts';
import type { OpenWord } from './known-word.ts';
import { many, one, present } from './reader.ts';
import type { Reader } from './reader.ts';

/** A feed (api-spec section 2.3). A text that the service leaves out against its specification is empty. */
export interface Feed {
  readonly id: string;
  readonly name: string;
  /** `mrss` is given; the words for podcast and CTV feeds are not. */
  readonly type: OpenWord<'mrss'>;
  readonly channelId: string;
  readonly url: string;
  /** ISO 8601, as sent; missing before the first publish. */
  readonly lastPublishedAt?: string;
}

/**
 * The result of a publish (api-spec section 2.4). A service that only accepts the request may leave out when and how
 * many.
 */
export interface Published {
  readonly feedId: string;
  readonly status: OpenWord<'published'>;
  /** ISO 8601, as sent. */
  readonly publishedAt?: string;
  readonly videoCount?: number;
}

const FeedAnswer = z.object({
  id: Id,
  name: Text,
  type: orMissing(oneOf('mrss')),
  channel_id: Text,
  url: Address,
  last_published_at: Text,
});

const PublishedAnswer = z.object({
  feed_id: Text,
  status: orMissing(oneOf('published')),
  published_at: Text,
  video_count: Count,
});

export const readFeeds: Reader<readonly Feed[]> = many(z.pipe(FeedAnswer, z.transform(feedOf)));

/** @param askedId replaces an id that the answer lacks */
export function readPublished(askedId: string): Reader<Published> {
  return one(
    z.pipe(
      PublishedAnswer,
      z.transform((wire: z.output<typeof PublishedAnswer>): Published => ({
        feedId: wire.feed_id ?? askedId,
        status: wire.status ?? 'published',
        ...present({ publishedAt: wire.published_at, videoCount: wire.video_count }),
      })),
    ),
  );
}

function feedOf(wire: z.output<typeof FeedAnswer>): Feed {
  return {
    id: wire.id,
    name: wire.name ?? '',
    type: wire.type ?? '',
    channelId: wire.channel_id ?? '',
    url: wire.url ?? '',
    ...present({ lastPublishedAt: wire.last_published_at }),
  };
}
