import type { Readable } from 'node:stream';
import type { Channel, CreatedVideo, Feed, Published, Video, VideoPage } from '../wire.ts';

/** The whole API of the video service, typed (api-spec section 4). Made by `createVideoClient`. */
export interface VideoClient extends AsyncDisposable {
  readonly videos: Videos;
  readonly channels: Channels;
  readonly feeds: Feeds;
  readonly analytics: Analytics;
}

/** What every call takes beside its own. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** For one exchange; default that of the client. */
  readonly timeoutMs?: number;
  /** Repetitions of a request that may be repeated, 0 to 10; default that of the client. */
  readonly maxRetries?: number;
}

export interface Videos {
  /** All that the filter selects, newest first, in pages; nothing is asked before it is awaited or iterated. */
  list(query?: VideoQuery, options?: RequestOptions): Pages<Video>;
  get(id: string, options?: RequestOptions): Promise<Video>;
  /** Never repeated by itself: a second record could come of it. */
  create(fields: NewVideo, options?: RequestOptions & { readonly idempotencyKey?: string }): Promise<CreatedVideo>;
  /** Has the service fetch the file from an address. */
  import(
    sourceUrl: string,
    fields: NewVideo,
    options?: RequestOptions & { readonly idempotencyKey?: string },
  ): Promise<CreatedVideo>;
  /** @returns the video as it is now, if the answer says it (the specification does not show it), else null */
  update(id: string, changes: VideoChanges, options?: RequestOptions): Promise<Video | null>;
  delete(id: string, options?: RequestOptions): Promise<void>;
  /** Creates the video and sends the file. */
  upload(source: UploadSource, fields: NewVideo, options?: UploadCallOptions): Promise<UploadedVideo>;
  /** Asks until the video is ready. @throws VideoFailedError when it failed, WaitTimeoutError when it took too long */
  waitUntilReady(id: string, options?: WaitOptions): Promise<Video>;
}

export interface Channels {
  list(options?: RequestOptions): Promise<readonly Channel[]>;
  update(id: string, changes: ChannelChanges, options?: RequestOptions): Promise<Channel | null>;
}

export interface Feeds {
  list(options?: RequestOptions): Promise<readonly Feed[]>;
  publish(id: string, options?: RequestOptions): Promise<Published>;
}

export interface Analytics {
  video(id: string, period?: Period, options?: RequestOptions): Promise<VideoAnalytics>;
  overview(query?: Period & { readonly channelId?: string }, options?: RequestOptions): Promise<AnalyticsOverview>;
}

export interface VideoQuery {
  readonly channelId?: string;
  readonly status?: 'processing' | 'ready' | 'failed';
  /** 1 to 100; default 100. */
  readonly perPage?: number;
}

/** `for await` gives one item after the other, over all pages, each id once, until a page is empty. */
export interface Pages<T> extends AsyncIterable<T> {
  /** @param page from 1 */
  page(page: number): Promise<VideoPage>;
  toArray(options?: { readonly limit?: number }): Promise<T[]>;
}

export interface NewVideo {
  readonly title: string;
  readonly description?: string;
  readonly channelId?: string;
  readonly tags?: readonly string[];
}

export interface VideoChanges {
  readonly title?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
}

export interface ChannelChanges {
  readonly name?: string;
  readonly description?: string;
  readonly defaultPlayerSettings?: Readonly<Record<string, unknown>>;
}

/** A file by its path, or bytes from anywhere: `open` is called once for each attempt. */
export type UploadSource = string | { readonly name: string; readonly sizeBytes: number; open(): Readable };

export interface UploadCallOptions extends RequestOptions {
  readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
  /** No byte moved for so long: broken off. Default 60 s. */
  readonly stallTimeoutMs?: number;
  /** Told as soon as the record exists, before the first byte. */
  readonly onCreated?: (video: CreatedVideo) => void;
}

export interface UploadedVideo {
  readonly id: string;
  readonly sizeBytes: number;
  /** Hex. */
  readonly sha256: string;
}

export interface WaitOptions extends RequestOptions {
  /** For the whole wait. Default 1 h. */
  readonly waitMs?: number;
  /** Between two questions. Default 5 s, at least 1 s. */
  readonly intervalMs?: number;
  readonly onStatus?: (status: string) => void;
}

/** Days as `YYYY-MM-DD`, UTC, both included. */
export interface Period {
  readonly from?: string;
  readonly to?: string;
}

export interface VideoAnalytics {
  readonly videoId: string;
  readonly period: Required<Period>;
  readonly views: number;
  readonly uniqueViewers: number;
  readonly avgWatchTimeSeconds: number;
  /** 0 to 1. */
  readonly completionRate: number;
}

export interface AnalyticsOverview {
  readonly period: Required<Period>;
  readonly totalViews: number;
  readonly uniqueViewers: number;
  readonly topVideos: readonly { readonly id: string; readonly title: string; readonly views: number }[];
}
