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
import { analyticsPages } from './lists.ts';
import { settingsOf } from './settings.ts';
import { realSurroundings } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';
import type { Analytics, Channels, Feeds, VideoClient, Videos } from './video-client.ts';
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
  return new HttpVideoClient(options, surroundings);
}

class HttpVideoClient implements VideoClient {
  readonly #transport: Transport;
  readonly videos: Videos;
  readonly channels: Channels;
  readonly feeds: Feeds;
  readonly analytics: Analytics;

  constructor(options: VideoClientOptions, surroundings: Surroundings) {
    const settings = settingsOf(options);
    const hooks = new Hooks(options);
    this.#transport = new Transport({ ...settings, onExchange: (exchange) => hooks.exchange(exchange) });
    const caller = new Caller(this.#transport, {
      settings,
      hooks,
      gate: options.requestGate,
      formStore: options.uploadForms,
      surroundings,
    });
    this.videos = createVideos(caller, settings.honoursIdempotencyKey);
    this.channels = {
      list: (options) => caller.call(listChannels, options),
      update: (id, changes, options) => caller.call(() => updateChannel(id, changes), options),
    };
    this.feeds = {
      list: (options) => caller.call(listFeeds, options),
      publish: (id, options) => caller.call(() => publishFeed(id), options),
    };
    this.analytics = {
      video: (id, period = {}, options) => caller.call(() => videoAnalytics(id, period), options),
      videos: (query = {}, options = {}) => analyticsPages(caller, query, options),
      overview: (query = {}, options) => caller.call(() => analyticsOverview(query), options),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#transport[Symbol.asyncDispose]();
  }
}
