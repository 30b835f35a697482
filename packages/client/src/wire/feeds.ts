import * as z from 'zod/mini';

import { Address, Count, Id, Text } from './fields.ts';
import { oneOf, orMissing } from './tolerant.ts';
import type { OpenWord } from './tolerant.ts';
import { many, one, renamed } from './reader.ts';
import type { Reader } from './reader.ts';

/** A feed (api-spec section 2.3). Strings that the service omits, contrary to the specification, are empty. */
export interface Feed {
  readonly id: string;
  readonly name: string;
  /** The specification names `mrss` but gives no values for podcast and CTV feeds. */
  readonly type: OpenWord<'mrss'>;
  readonly channelId: string;
  readonly url: string;
  /** ISO 8601, as sent; missing until the feed is first published. */
  readonly lastPublishedAt?: string;
}

/**
 * The result of publishing a feed (api-spec section 2.4). A service that only accepts the request may omit the time and
 * the number of videos.
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

/** @param askedId used if the response has no id */
export function readPublished(askedId: string): Reader<Published> {
  return one(
    z.pipe(
      PublishedAnswer,
      z.transform((wire: z.output<typeof PublishedAnswer>): Published => ({
        feedId: askedId,
        status: 'published',
        ...renamed(wire),
      })),
    ),
  );
}

function feedOf(wire: z.output<typeof FeedAnswer>): Feed {
  const { name = '', type = '', channel_id = '', url = '' } = wire;
  return renamed({ ...wire, name, type, channel_id, url });
}
