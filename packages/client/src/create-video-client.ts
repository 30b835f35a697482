import {
  analyticsOverview,
  listChannels,
  listFeeds,
  publishFeed,
  updateChannel,
  videoAnalytics,
} from './wire/requests.ts';
import { Transport } from './transport/transport.ts';
import { Caller } from './caller.ts';
import type { VideoClientOptions } from './client-options.ts';
import { Hooks } from './hooks.ts';
import { analyticsPages } from './pages.ts';
import { settingsOf } from './settings.ts';
import { realSurroundings } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';
import type { VideoClient } from './video-client.ts';
import { createVideos } from './videos.ts';

/**
 * Creates a client for the video service. Sends nothing until a method is called.
 *
 * @param options see `VideoClientOptions` for units, ranges and defaults
 * @throws {TypeError} an address is neither https nor on this machine, the key is empty or cannot be sent in a header,
 *   `ca` is not a certificate, or a number is out of range
 */
export function createVideoClient(options: VideoClientOptions): VideoClient {
  return openVideoClient(options, realSurroundings);
}

/** Like `createVideoClient`, with the clock and random numbers supplied by a test. */
export function openVideoClient(options: VideoClientOptions, surroundings: Surroundings): VideoClient {
  const settings = settingsOf(options);
  const hooks = new Hooks(options);
  const transport = new Transport({ ...settings, onExchange: (exchange) => hooks.exchange(exchange) });
  const { requestGate: gate, uploadForms: formStore } = options;
  const caller = new Caller(transport, { settings, hooks, gate, formStore, surroundings });
  return {
    videos: createVideos(caller, settings.honoursIdempotencyKey),
    channels: {
      list: (options) => caller.call(listChannels, options),
      update: (id, changes, options) => caller.call(() => updateChannel(id, changes), options),
    },
    feeds: {
      list: (options) => caller.call(listFeeds, options),
      publish: (id, options) => caller.call(() => publishFeed(id), options),
    },
    analytics: {
      video: (id, period = {}, options) => caller.call(() => videoAnalytics(id, period), options),
      videos: (query = {}, options = {}) => analyticsPages(caller, query, options),
      overview: (query = {}, options) => caller.call(() => analyticsOverview(query), options),
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}
