import { Hono } from 'hono';
import type { Services } from '../services.ts';
import { overviewAnalytics, videosAnalytics } from './analytics.ts';
import { noQuery, type Handler } from './input.ts';
import { operations, type OperationName } from './operations.ts';
import { createVideo, deleteVideo, getVideo, listVideos, updateVideo } from './videos.ts';
import { listChannels, updateChannel, listFeeds, publishFeed } from './channels-and-feeds.ts';

/** Creates the JSON API of api-spec section 4, under /v1. */
export function createApi(services: Services): Hono {
  const api = new Hono();
  const handlers = handlersOf(services);
  for (const { name, method, path } of operations) api.on(method, path, handlers[name]);
  return api;
}

function handlersOf(services: Services): Record<OperationName, Handler> {
  return {
    'videos.list': listVideos(services),
    'videos.create': withoutQuery(createVideo(services), services),
    'videos.get': withoutQuery(getVideo(services), services),
    'videos.update': withoutQuery(updateVideo(services), services),
    'videos.delete': withoutQuery(deleteVideo(services), services),
    'channels.list': withoutQuery(listChannels(services), services),
    'channels.update': withoutQuery(updateChannel(services), services),
    'feeds.list': withoutQuery(listFeeds(services), services),
    'feeds.publish': withoutQuery(publishFeed(services), services),
    'analytics.videos': videosAnalytics(services),
    'analytics.overview': overviewAnalytics(services),
  };
}

function withoutQuery(handler: Handler, { switchboard }: Services): Handler {
  return (context) => {
    noQuery(context.req.raw, switchboard.now.unknown_parameters);
    return handler(context);
  };
}
