import {
  analyticsOverview,
  customRequest,
  listChannels,
  listFeeds,
  publishFeed,
  updateChannel,
  videoAnalytics,
} from './wire/requests.ts';
import type { ApiRequest } from './wire/requests.ts';
import { Transport } from './transport/transport.ts';
import type { Call } from './call.ts';
import { Caller } from './caller.ts';
import type { VideoClientOptions } from './client-options.ts';
import { Hooks } from './hooks.ts';
import {
  agentKeys,
  channelChangeKeys,
  clientKeys,
  customKeys,
  overviewKeys,
  periodKeys,
  requestKeys,
  requireKeys,
} from './option-keys.ts';
import { analyticsPages } from './pages.ts';
import { settingsOf } from './settings.ts';
import { realSurroundings } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';
import type { RequestOptions, VideoClient } from './video-client.ts';
import { createVideos } from './videos.ts';

/**
 * Creates a client for the video service. Sends nothing until a method is called.
 *
 * @param options see `VideoClientOptions` for units, ranges and defaults
 * @throws {TypeError} a key is unknown, an address is neither https nor on this machine, the key is empty or cannot be sent in a header,
 *   `ca` is not a certificate, or a number is out of range
 */
export function createVideoClient(options: VideoClientOptions): VideoClient {
  return openVideoClient(options, realSurroundings);
}

/** Like `createVideoClient`, with the clock and random numbers supplied by a test. */
export function openVideoClient(options: VideoClientOptions, surroundings: Surroundings): VideoClient {
  requireKeys('createVideoClient', [options, clientKeys]);
  requireKeys('createVideoClient agent', [options.agent ?? {}, agentKeys]);
  const settings = settingsOf(options);
  const hooks = new Hooks(options);
  const transport = new Transport({ ...settings, onExchange: (exchange) => hooks.exchange(exchange) });
  const { requestGate: gate, uploadForms: formStore } = options;
  const caller = new Caller(transport, { settings, hooks, gate, formStore, surroundings });
  const asked = <T>(method: string, options: RequestOptions = {}, request: () => ApiRequest<T>): Call<T> =>
    caller.call(() => {
      requireKeys(method, [options, requestKeys]);
      return request();
    }, options);
  return {
    videos: createVideos(caller, settings.honoursIdempotencyKey),
    channels: {
      list: (options) => asked('channels.list', options, listChannels),
      update: (id, changes, options) =>
        asked('channels.update', options, () => {
          requireKeys('channels.update', [changes, channelChangeKeys]);
          return updateChannel(id, changes);
        }),
    },
    feeds: {
      list: (options) => asked('feeds.list', options, listFeeds),
      publish: (id, options) => asked('feeds.publish', options, () => publishFeed(id)),
    },
    analytics: {
      video: (id, period = {}, options) =>
        asked('analytics.video', options, () => {
          requireKeys('analytics.video', [period, periodKeys]);
          return videoAnalytics(id, period);
        }),
      videos: (query = {}, options = {}) => analyticsPages(caller, query, options),
      overview: (query = {}, options) =>
        asked('analytics.overview', options, () => {
          requireKeys('analytics.overview', [query, overviewKeys]);
          return analyticsOverview(query);
        }),
    },
    request: (request, options) =>
      asked('request', options, () => {
        requireKeys('request', [request, customKeys]);
        return customRequest(request);
      }),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}
