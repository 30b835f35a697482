import type { FeedPublishedEvent, VideoFailedEvent, VideoReadyEvent } from '../contract/types.gen.ts';
import type { EventType, SandboxEvent } from '../events.ts';
import type { Links } from '../http/links.ts';
import { isoTime, publishResult, wholeVideo } from '../http/wire.ts';
import type { Records } from '../store/records.ts';

/** assumed: the specification does not name the event types (api-spec section 6). */
export const webhookEvents = ['video.ready', 'video.failed', 'feed.published'] as const;

export type WebhookEvent = (typeof webhookEvents)[number];

export function isWebhookEvent(type: EventType): type is WebhookEvent {
  return webhookEvents.some((known) => known === type);
}

interface PayloadParts {
  readonly records: Pick<Records, 'videos' | 'feeds'>;
  readonly links: Links;
}

/**
 * Builds the body for an event. assumed: the form of Standard Webhooks, with the video as in GET /videos/:id, or with
 * the publish result. Undefined if the video or feed no longer exists.
 */
export function payloadOf({ type, id }: SandboxEvent, nowMs: number, parts: PayloadParts): string | undefined {
  const { videos, feeds } = parts.records;
  const timestamp = isoTime(nowMs);
  if (type === 'feed.published') {
    const feed = feeds.find(id);
    if (!feed) return undefined;
    const data = publishResult(id, feed.lastPublishedAtMs ?? nowMs, feeds.count(id));
    return JSON.stringify({ type, timestamp, data } satisfies FeedPublishedEvent);
  }
  const video = videos.find(id);
  if (!video || (type !== 'video.ready' && type !== 'video.failed')) return undefined;
  const data = wholeVideo(video, parts.links);
  return JSON.stringify({ type, timestamp, data } satisfies VideoReadyEvent | VideoFailedEvent);
}
