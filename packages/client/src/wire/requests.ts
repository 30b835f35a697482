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

/** One API request (api-spec section 4), and how to read its response. */
export interface ApiRequest<T> {
  /** Name of the operation, for messages and metrics. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path relative to the base address. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly json?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether repeating the request is harmless even if the service already carried out an earlier attempt. */
  readonly isRepeatable: boolean;
  /** Reads a 2xx response. @throws {UnreadableAnswerError} */
  read(answer: Answer): T;
}

export interface VideoFields {
  readonly title: string;
  readonly description?: string | null | undefined;
  readonly channelId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Address from which the service fetches the file, for an import. */
  readonly sourceUrl?: string | null | undefined;
}

/**
 * @param idempotencyKey makes the request repeatable, for a service that creates one record for all requests with the
 *   same `Idempotency-Key`
 * @throws {TypeError} the key cannot be sent in a header, or would arrive empty
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

/** Rejects a key that would not reach the service, because a retry would then create a second record. */
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

/** Fields for `videos.update`. Omitted fields keep their values. */
export interface VideoChanges {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** Updates a video. Reads null if the response, which the specification does not show, is not a video. */
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

/** Fields for `channels.update`. Omitted fields keep their values. */
export interface ChannelChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Player settings, whose content the specification does not define. */
  readonly defaultPlayerSettings?: Readonly<Record<string, unknown>> | undefined;
}

/** Updates a channel. Reads null if the response, which the specification does not show, is not a channel. */
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

/** Publishes a feed. Repeatable, because publishing twice has the same result as publishing once. */
export function publishFeed(id: string): ApiRequest<Published> {
  const request = asking('publish feed', 'POST', `${pathOf('/feeds', id)}/publish`, readPublished(id));
  return {
    ...request,
    // The specification shows a body but no status, so an empty 204 is accepted too.
    read: (answer) => (answer.body.trim() === '' ? { feedId: id, status: 'published' } : request.read(answer)),
  };
}

/** @throws {RejectedError} the id is invalid; without one the service would return figures for all videos */
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
  /** Page number, from 1. */
  readonly page: number;
}

/**
 * Requests one page of analytics. assumed: the channel filter is called `channel_id`, as elsewhere, and pages work like
 * those of videos. The first page omits the page parameter, since a service that does not page this list may refuse it.
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

/** A request to an endpoint for which the client has no method. */
export interface CustomRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below `baseUrl`, from `/` on, encoded, without a query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** The JSON object of the body, not for GET. Default: no body. */
  readonly json?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Whether repeating the request is harmless even if the service already carried out an earlier attempt. Default: true
   * for GET, PUT and DELETE (RFC 9110 section 9.2.2).
   */
  readonly isRepeatable?: boolean | undefined;
}

/** @throws {TypeError} the path could leave the base address or has a query, or a GET has a body */
export function customRequest({ method, path, query, json, isRepeatable }: CustomRequest): ApiRequest<unknown> {
  if (!/^(?:\/[\w!$&'()*+,;=:@%~.-]*)+$/.test(path) || /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path))
    throw new TypeError('path must start with / and be encoded, without . and .. segments and without a query');
  if (!/^(?:GET|POST|PUT|PATCH|DELETE)$/.test(method))
    throw new TypeError('method must be GET, POST, PUT, PATCH or DELETE');
  if (method === 'GET' && json !== undefined) throw new TypeError('a GET has no json: use query');
  const operation = `${method} ${path}`;
  return {
    operation,
    method,
    path,
    query,
    json,
    isRepeatable: isRepeatable ?? /^(?:GET|PUT|DELETE)$/.test(method),
    read: (answer) => readSomething(answer, (value) => value, operation),
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
 * Builds a path with an id as one segment. `.` and `..` would be resolved even when encoded and reach another endpoint;
 * a lone surrogate cannot be encoded.
 */
function pathOf(collection: string, id: string): string {
  requireId(id);
  return `${collection}/${encodeURIComponent(id)}`;
}

function requireId(id: string): void {
  if (id !== '' && id !== '.' && id !== '..' && id.isWellFormed()) return;
  throw new RejectedError(`${JSON.stringify(id)} is not an id`, { code: 'invalid_id' });
}
