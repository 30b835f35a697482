import type { Context } from 'hono';
import { jsonBody, type Endpoint } from '../http/input.ts';
import { makeChannel, newChannel, removeChannel, makeFeed, newFeed, removeFeed } from '../makers/channels.ts';
import type { NamedSnapshots } from '../makers/named-snapshots.ts';
import { makeVideo, newReadyVideo, makePlays, newPlays } from '../makers/videos.ts';
import type { Services } from '../services.ts';

/**
 * Endpoints that create exactly what a test needs, immediately: channels, feeds, ready videos, plays and named states.
 */
export function makerEndpoints(services: Services): Endpoint[] {
  return [
    {
      method: 'POST',
      path: '/_sandbox/channels',
      says: 'Makes a channel, {"name", "id"?, "slug"?, "description"?}.',
      handler: async (context) =>
        context.json({ data: makeChannel(await jsonBody(context.req.raw, newChannel), services) }, 201),
    },
    {
      method: 'DELETE',
      path: '/_sandbox/channels/:id',
      says: 'Removes a channel that has neither videos nor feeds.',
      handler: (context) => {
        removeChannel(idOf(context), services);
        return context.body(null, 204);
      },
    },
    {
      method: 'POST',
      path: '/_sandbox/feeds',
      says: 'Creates a feed: {"name", "channel_id", "type"?: "mrss", "podcast" or "ctv", "id"?}.',
      handler: async (context) =>
        context.json({ data: makeFeed(await jsonBody(context.req.raw, newFeed), services) }, 201),
    },
    {
      method: 'DELETE',
      path: '/_sandbox/feeds/:id',
      says: 'Removes a feed.',
      handler: (context) => {
        removeFeed(idOf(context), services);
        return context.body(null, 204);
      },
    },
    {
      method: 'POST',
      path: '/_sandbox/videos',
      says: 'Makes a video that is ready at once, {"title", "channel_id"?, "description"?, "tags"?, "duration"?, "created_at"?, "failure"?}, with a small file.',
      handler: async (context) =>
        context.json({ data: await makeVideo(await jsonBody(context.req.raw, newReadyVideo), services) }, 201),
    },
    {
      method: 'POST',
      path: '/_sandbox/plays',
      says: 'Adds exactly these plays, [{"video_id", "seconds", "viewer"?, "at"?, "complete"?}, …].',
      handler: async (context) =>
        context.json(
          { data: makePlays(await jsonBody(context.req.raw, newPlays, { maxBytes: MAX_PLAYS_BYTES }), services) },
          201,
        ),
    },
    ...snapshotsByName(services.snapshots),
  ];
}

/** Maximum body size: enough for as many plays as `newPlays` allows, with viewer names of maximum length. */
const MAX_PLAYS_BYTES = 16 * 1024 * 1024;

function snapshotsByName(snapshots: NamedSnapshots): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/_sandbox/snapshots',
      says: 'Lists the saved states.',
      handler: async (context) => context.json({ data: await snapshots.list() }),
    },
    {
      method: 'PUT',
      path: '/_sandbox/snapshots/:name',
      says: 'Saves the state, records and files, under a name.',
      handler: async (context) => context.json({ data: await snapshots.save(nameOf(context)) }, 201),
    },
    {
      method: 'POST',
      path: '/_sandbox/snapshots/:name/restore',
      says: 'Replaces everything with a saved state, keys included.',
      handler: async (context) => context.json({ data: await snapshots.restore(nameOf(context)) }),
    },
    {
      method: 'DELETE',
      path: '/_sandbox/snapshots/:name',
      says: 'Removes a saved state.',
      handler: async (context) => {
        await snapshots.remove(nameOf(context));
        return context.body(null, 204);
      },
    },
  ];
}

function idOf(context: Context): string {
  return context.req.param('id') ?? '';
}

function nameOf(context: Context): string {
  return context.req.param('name') ?? '';
}
