import { Hono } from 'hono';
import type { World } from '../world.ts';
import { overviewAnalytics, videosAnalytics } from './analytics.ts';
import { listChannels, updateChannel } from './channels.ts';
import { listFeeds, publishFeed } from './feeds.ts';
import type { Handler } from './handler.ts';
import { noQuery } from './input.ts';
import { operations, type OperationName } from './operations.ts';
import { createVideo, deleteVideo, getVideo, listVideos, updateVideo } from './videos.ts';

/** The JSON API of api-spec section 4, below /v1. */
export function createApi(world: World): Hono {
  const api = new Hono();
  const handlers = handlersOf(world);
  for (const { name, method, path } of operations) api.on(method, path, handlers[name]);
  return api;
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
