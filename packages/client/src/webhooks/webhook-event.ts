import * as z from 'zod/mini';

import { oneOf, orMissing } from '../wire/tolerant.ts';
import { readPublished } from '../wire/feeds.ts';
import type { Published } from '../wire/feeds.ts';
import { readVideo } from '../wire/videos.ts';
import type { Video } from '../wire/videos.ts';

// The specification states only that webhooks exist and are signed (api-spec section 6). Kinds and payloads are
// assumed: `{type, timestamp, data}`, where `data` is the video as in GET /videos/:id, or the publish result.

interface Delivered {
  /** Message id, unchanged on redelivery, except by a `timestamped` service at another time. */
  readonly id: string;
  /** When the event occurred, ISO 8601 as sent; empty if the service does not state it. */
  readonly timestamp: string;
}

/** A video is ready. */
export interface VideoReadyEvent extends Delivered {
  readonly isKnown: true;
  readonly type: 'video.ready';
  readonly data: Video;
}

/** A video failed. `data.message` is the service's reason, if any. */
export interface VideoFailedEvent extends Delivered {
  readonly isKnown: true;
  readonly type: 'video.failed';
  readonly data: Video;
}

/** A feed was refreshed. */
export interface FeedPublishedEvent extends Delivered {
  readonly isKnown: true;
  readonly type: 'feed.published';
  readonly data: Published;
}

/** An event of a kind unknown to this package, as sent. */
export interface OtherEvent extends Delivered {
  readonly isKnown: false;
  readonly type: string;
  readonly data: unknown;
}

/** A webhook event. Check `isKnown` first; `type` then determines `data`. */
export type WebhookEvent = VideoReadyEvent | VideoFailedEvent | FeedPublishedEvent | OtherEvent;

const Kind = oneOf('video.ready', 'video.failed', 'feed.published');
const Envelope = z.object({ type: Kind, timestamp: orMissing(z.string()), data: z.optional(z.unknown()) });

/** @returns undefined if the JSON is not an event, or is a known kind with unexpected data */
export function readEvent(id: string, json: unknown): WebhookEvent | undefined {
  const envelope = Envelope.safeParse(json).data;
  if (envelope === undefined) return undefined;
  const { timestamp = '', data } = envelope;
  const type: string = envelope.type;
  if (type === 'video.ready' || type === 'video.failed') {
    const video = readVideo(data);
    return video && { isKnown: true, id, type, timestamp, data: video };
  }
  if (type === 'feed.published') {
    const published = readPublished('')(data);
    return published && { isKnown: true, id, type, timestamp, data: published };
  }
  return { isKnown: false, id, type, timestamp, data };
}
