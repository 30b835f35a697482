import { validateHeaderValue } from 'node:http';

import { readAnswer, readNothing, readSomething } from '../transport/answer.ts';
import type { Answer } from '../transport/answer.ts';
import { RejectedError } from '../errors.ts';
import { readAnalyticsPage, readOverview, readVideoAnalytics } from './analytics.ts';
import type { AnalyticsOverview, AnalyticsPage, Period, VideoAnalytics } from './analytics.ts';
import { readChannel, readChannels } from './channels.ts';
import type { Channel, ChannelListItem } from './channels.ts';
import { readFeeds, readPublished } from './feeds.ts';
import type { Feed, Published } from './feeds.ts';
import type { Reader } from './reader.ts';
import { readCreated, readVideo, readVideoPage } from './videos.ts';
import type { CreatedVideo, Video, VideoPage } from './videos.ts';

/** One request of the API (api-spec section 4), and how to read its answer. */
export interface ApiRequest<T> {
  /** In words, for messages and metrics. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the base address. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly json?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Repeating does no harm if the service already carried out an earlier attempt. */
  readonly isRepeatable: boolean;
  /** Reads a 2xx answer. @throws {UnreadableAnswerError} */
  read(answer: Answer): T;
}

export interface VideoFields {
  readonly title: string;
  readonly description?: string | null | undefined;
  readonly channelId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** For an import: the service fetches the file from this address. */
  readonly sourceUrl?: string | null | undefined;
}

/**
 * @param idempotencyKey for a service that makes one record for all requests with the same `Idempotency-Key`: it may be
 *   repeated then
 * @throws {TypeError} no header can carry the key, or nothing would arrive of it
 */
export function createVideo(fields: VideoFields, idempotencyKey?: string): ApiRequest<CreatedVideo> {
  if (idempotencyKey !== undefined) requireKey(idempotencyKey);
  const isImport = typeof fields.sourceUrl === 'string';
  return {
    ...asking('create video', 'POST', '/videos', (json) => {
      const created = readCreated(json);
      return created?.uploadUrl === null && !isImport ? undefined : created;
    }),
    isRepeatable: idempotencyKey !== undefined,
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    json: {
      title: fields.title,
      description: fields.description ?? undefined,
      channel_id: fields.channelId,
      tags: fields.tags,
      source_url: fields.sourceUrl ?? undefined,
    },
  };
}

/** With a key that the service does not see, a repetition would make a second record. */
function requireKey(idempotencyKey: string): void {
  validateHeaderValue('idempotency-key', idempotencyKey);
  if (idempotencyKey.trim() === '') throw new TypeError('idempotencyKey is empty');
}

export function getVideo(id: string): ApiRequest<Video> {
  return asking('get video', 'GET', pathOf('/videos', id), readVideo);
}

/** `page` from 1, `perPage` 1 to 100. */
export interface PageQuery {
  readonly page: number;
  readonly perPage: number;
  readonly channelId?: string | undefined;
  readonly status?: string | undefined;
}

export function listVideos(query: PageQuery): ApiRequest<VideoPage> {
  const { page, perPage, channelId, status } = query;
  return {
    ...asking('list videos', 'GET', '/videos', readVideoPage(query)),
    query: { page, per_page: perPage, channel_id: channelId, status },
  };
}

/** What `videos.update` changes; what is left out stays as it is. */
export interface VideoChanges {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** Null if the answer, which the specification does not show, is not a video. */
export function updateVideo(id: string, changes: VideoChanges): ApiRequest<Video | null> {
  const { title, description, tags } = changes;
  return { ...patching('update video', pathOf('/videos', id), readVideo), json: { title, description, tags } };
}

export function deleteVideo(id: string): ApiRequest<void> {
  const operation = 'delete video';
  return {
    operation,
    method: 'DELETE',
    path: pathOf('/videos', id),
    isRepeatable: true,
    read: (answer) => readNothing(answer, operation),
  };
}

export function listChannels(): ApiRequest<readonly ChannelListItem[]> {
  return asking('list channels', 'GET', '/channels', readChannels);
}

/** What `channels.update` changes; what is left out stays as it is. */
export interface ChannelChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** The specification does not show what is in it. */
  readonly defaultPlayerSettings?: Readonly<Record<string, unknown>> | undefined;
}

/** Null if the answer, which the specification does not show, is not a channel. */
export function updateChannel(id: string, changes: ChannelChanges): ApiRequest<Channel | null> {
  const { name, description, defaultPlayerSettings } = changes;
  return {
    ...patching('update channel', pathOf('/channels', id), readChannel),
    json: { name, description, default_player_settings: defaultPlayerSettings },
  };
}

export function listFeeds(): ApiRequest<readonly Feed[]> {
  return asking('list feeds', 'GET', '/feeds', readFeeds);
}

/** Repeatable: publishing a feed twice gives the same feed as publishing it once. */
export function publishFeed(id: string): ApiRequest<Published> {
  const request = asking('publish feed', 'POST', `${pathOf('/feeds', id)}/publish`, readPublished(id));
  return {
    ...request,
    // The body is shown in the specification, the status is not: a 204 has none.
    read: (answer) => (answer.body.trim() === '' ? { feedId: id, status: 'published' } : request.read(answer)),
  };
}

/** @throws {RejectedError} it is no id: without one the service would answer with the figures of all videos */
export function videoAnalytics(videoId: string, period: Period): ApiRequest<VideoAnalytics> {
  requireId(videoId);
  const asked = { videoId, ...period };
  return {
    ...asking('video analytics', 'GET', '/analytics/videos', readVideoAnalytics(asked)),
    query: { video_id: videoId, from: period.from, to: period.to },
  };
}

export interface AnalyticsQuery extends Period {
  readonly channelId?: string | undefined;
  /** From 1. */
  readonly page: number;
}

/**
 * assumed: the channel filter is called `channel_id` as elsewhere, and later pages are asked for as those of videos
 * are. The first page is asked for without saying so: a service that does not page this list may refuse the parameter.
 */
export function analyticsPage({ channelId, from, to, page }: AnalyticsQuery): ApiRequest<AnalyticsPage> {
  return {
    ...asking(
      'video analytics',
      'GET',
      '/analytics/videos',
      readAnalyticsPage({ ...(from && { from }), ...(to && { to }) }),
    ),
    query: { channel_id: channelId, from, to, page: page === 1 ? undefined : page },
  };
}

export function analyticsOverview(
  query: Period & { readonly channelId?: string | undefined },
): ApiRequest<AnalyticsOverview> {
  return {
    ...asking('analytics overview', 'GET', '/analytics/overview', readOverview(query)),
    query: { channel_id: query.channelId, from: query.from, to: query.to },
  };
}

function asking<T>(operation: string, method: 'GET' | 'POST', path: string, read: Reader<T>): ApiRequest<T> {
  return { operation, method, path, isRepeatable: true, read: (answer) => readAnswer(answer, read, operation) };
}

function patching<T>(operation: string, path: string, read: Reader<T>): ApiRequest<T | null> {
  const readIt = (answer: Answer) => readSomething(answer, read, operation);
  return { operation, method: 'PATCH', path, isRepeatable: true, read: readIt };
}

/**
 * An id as one segment of a path. `.` and `..` would be resolved away even when encoded, and reach another endpoint;
 * half a surrogate pair cannot be encoded.
 */
function pathOf(collection: string, id: string): string {
  requireId(id);
  return `${collection}/${encodeURIComponent(id)}`;
}

function requireId(id: string): void {
  if (id !== '' && id !== '.' && id !== '..' && id.isWellFormed()) return;
  throw new RejectedError(`${JSON.stringify(id)} is not an id`, { code: 'invalid_id' });
}
