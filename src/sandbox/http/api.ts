import { Hono } from 'hono';
import type { World } from '../world.ts';
import { ApiError, toApiError } from './api-error.ts';
import { overviewAnalytics, videosAnalytics } from './analytics.ts';
import { listChannels, updateChannel } from './channels.ts';
import { listFeeds, publishFeed } from './feeds.ts';
import type { Handler } from './handler.ts';
import { noQuery } from './input.ts';
import { methodsAt, operations, type OperationName } from './operations.ts';
import { createVideo, deleteVideo, getVideo, listVideos, updateVideo } from './videos.ts';

/** The JSON API of api-spec section 4, below /v1. */
export function createApi(world: World): Hono {
  const api = new Hono();
  const handlers = handlersOf(world);
  for (const { name, method, path } of operations) api.on(method, path, handlers[name]);
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

function handlersOf(world: World): Record<OperationName, Handler> {
  return {
    'videos.list': listVideos(world),
    'videos.create': withoutQuery(createVideo(world)),
    'videos.get': withoutQuery(getVideo(world)),
    'videos.update': withoutQuery(updateVideo(world)),
    'videos.delete': withoutQuery(deleteVideo(world)),
    'channels.list': withoutQuery(listChannels(world)),
    'channels.update': withoutQuery(updateChannel(world)),
    'feeds.list': withoutQuery(listFeeds(world)),
    'feeds.publish': withoutQuery(publishFeed(world)),
    'analytics.videos': videosAnalytics(world),
    'analytics.overview': overviewAnalytics(world),
  };
}

function withoutQuery(handler: Handler): Handler {
  return (context) => {
    noQuery(context.req.raw);
    return handler(context);
  };
}

/** The answer at a path that no route took. @throws ApiError 404 or 405 */
export function answerElsewhere(method: string, path: string): Response {
  const methods = methodsAt(path);
  if (methods.length === 0) throw new ApiError('not_found', 'There is nothing at this path.');
  const allow = { Allow: methods.join(', ') };
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: allow });
  throw new ApiError('method_not_allowed', `This path allows ${allow.Allow}.`, allow);
}
