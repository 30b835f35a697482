import { Hono, type MiddlewareHandler } from 'hono';
import type { ChannelStore } from '../store/channels.ts';
import { ApiError, toApiError } from './api-error.ts';
import { listChannels, updateChannel } from './channels.ts';
import { listFeeds, publishFeed, type FeedParts } from './feeds.ts';
import type { Handler } from './handler.ts';
import { methodsAt, operations, type OperationName } from './operations.ts';
import { createVideo, deleteVideo, getVideo, listVideos, updateVideo, type VideoParts } from './videos.ts';

export interface ApiParts extends VideoParts, FeedParts {
  readonly channels: ChannelStore;
  readonly access: MiddlewareHandler;
  /** Is told of every error that is not the client's. */
  readonly onDefect: (error: unknown) => void;
}

/** The JSON API of api-spec section 4 below /v1; 404 everywhere else. */
export function createApi(parts: ApiParts): Hono {
  const api = new Hono();
  api.use('/v1/*', parts.access);
  const handlers = handlersOf(parts);
  for (const { name, method, path } of operations) api.on(method, path, handlers[name]);
  api.notFound((context) => answerElsewhere(context.req.method, context.req.path));
  api.onError((error) => errorResponse(error, parts.onDefect));
  return api;
}

/** @returns the refusal as an answer; errors that are no refusals are reported and become `server_error`. */
export function errorResponse(error: unknown, onDefect: (error: unknown) => void): Response {
  const refusal = toApiError(error);
  if (refusal.code === 'server_error') onDefect(error);
  const headers = { 'Content-Type': 'application/json', ...refusal.headers };
  return new Response(refusal.body, { status: refusal.status, headers });
}

/** The answer of a port that serves no API. */
export function nothingHere(): Response {
  return errorResponse(new ApiError('not_found', 'There is nothing at this path.'), () => undefined);
}

function handlersOf(parts: ApiParts): Record<OperationName, Handler> {
  return {
    'videos.list': listVideos(parts),
    'videos.create': createVideo(parts),
    'videos.get': getVideo(parts),
    'videos.update': updateVideo(parts),
    'videos.delete': deleteVideo(parts),
    'channels.list': listChannels(parts.channels),
    'channels.update': updateChannel(parts.channels),
    'feeds.list': listFeeds(parts),
    'feeds.publish': publishFeed(parts),
  };
}

function answerElsewhere(method: string, path: string): Response {
  const methods = methodsAt(path);
  if (methods.length === 0) throw new ApiError('not_found', 'There is nothing at this path.');
  const allow = { Allow: methods.join(', ') };
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: allow });
  throw new ApiError('method_not_allowed', `This path allows ${allow.Allow}.`, allow);
}
