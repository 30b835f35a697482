import type { ChannelChanges, VideoChanges } from './wire/requests.ts';
import type {
  AnalyticsOverview,
  Channel,
  CreatedVideo,
  Feed,
  Period,
  Published,
  Video,
  VideoAnalytics,
  VideoPage,
} from './wire/wire.ts';

export type { AnalyticsOverview, ChannelChanges, Period, VideoAnalytics, VideoChanges };

/**
 * The whole API of the video service, typed (api-spec section 4). Made by `createVideoClient`.
 *
 * Every method rejects with a `ServiceError` of the kind that its class names, or with a TypeError for an option that is
 * no good. Leaving the scope of `await using`, or calling `[Symbol.asyncDispose]()`, breaks off what is under way.
 */
export interface VideoClient extends AsyncDisposable {
  readonly videos: Videos;
  readonly channels: Channels;
  readonly feeds: Feeds;
  readonly analytics: Analytics;
}

/** What every call takes beside its own. */
export interface RequestOptions {
  /** Breaks the call off, its waits included: it rejects with AbortedError. */
  readonly signal?: AbortSignal;
  /** For one exchange, in milliseconds, 1 to 2,147,483,647; default that of the client. */
  readonly timeoutMs?: number;
  /** Repetitions of a request that may be repeated, 0 to 10; default that of the client. */
  readonly maxRetries?: number;
}

/** Options of a create request. */
export interface CreateOptions extends RequestOptions {
  /** Sent as `Idempotency-Key`. assumed: a service that knows it makes no second record; the specification has no such header. */
  readonly idempotencyKey?: string;
}

export interface Videos {
  /** All that the filter selects, newest first, in pages; nothing is asked before it is awaited or iterated. */
  list(query?: VideoQuery, options?: RequestOptions): Pages<Video>;
  /** @throws {NotFoundError} there is no such video */
  get(id: string, options?: RequestOptions): Promise<Video>;
  /**
   * Makes a record and says where its file is to be sent: see `send`. Never repeated by itself, because a second record could
   * come of it, except where the service cannot have acted: nothing was sent, or it answered 429.
   */
  create(fields: NewVideo, options?: CreateOptions): Promise<CreatedVideo>;
  /** Has the service fetch the file from an address. Repeated as little as `create`. */
  import(sourceUrl: string, fields: NewVideo, options?: CreateOptions): Promise<CreatedVideo>;
  /** @returns the video as it is now, if the answer says it (the specification does not show it), else null */
  update(id: string, changes: VideoChanges, options?: RequestOptions): Promise<Video | null>;
  /**
   * For good, with all its assets. A repetition that finds nothing counts as done.
   * @throws {NotFoundError} it was away before
   */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /**
   * Creates the video and sends the file: `create` and `send` in one. When sending fails, the record stays, without a file;
   * `onCreated` knows its id.
   */
  upload(source: UploadSource, fields: NewVideo, options?: UploadCallOptions): Promise<UploadedVideo>;
  /**
   * Sends the file of a record that was created. A failed PUT is repeated, at most `maxRetries` times, only while the service
   * says that the video is still `pending`, to the same address; an answer that got lost is found out the same way.
   *
   * @throws {FileVanishedError | FileUnreadableError} the file is not there or cannot be read
   * @throws {FileChangedError} the file changed while it was sent, or the stream has another length
   * @throws {AddressDeadError | UploadConflictError | UploadRejectedError | UploadServerError} the address refuses
   * @throws {UploadStalledError | ConnectionError} nothing moved, or the connection broke, once too often
   * @throws {VideoFailedError} the service found, after an answer that got lost, that the file is no good
   */
  send(
    source: UploadSource,
    created: Pick<CreatedVideo, 'id' | 'uploadUrl'>,
    options?: SendCallOptions,
  ): Promise<UploadedVideo>;
  /**
   * Asks until the video is ready. A status that is neither `ready` nor `failed` means 'not yet', a word that was added since
   * included. When the service asks to slow down it is waited for as long as it says, if that ends in time.
   *
   * @throws {VideoFailedError} it failed; `reason` says why, if the service does
   * @throws {WaitTimeoutError} it took too long
   * @throws {NotFoundError} there is no such video, or not any more
   */
  waitUntilReady(id: string, options?: WaitOptions): Promise<Video>;
}

export interface Channels {
  /** All of the account. */
  list(options?: RequestOptions): Promise<readonly Channel[]>;
  /** @returns the channel as it is now, if the answer says it (the specification does not show it), else null */
  update(id: string, changes: ChannelChanges, options?: RequestOptions): Promise<Channel | null>;
}

export interface Feeds {
  /** All active ones of the account. */
  list(options?: RequestOptions): Promise<readonly Feed[]>;
  /** Refreshes the feed with the latest videos. Repeated where that may help: a second publish does no harm. */
  publish(id: string, options?: RequestOptions): Promise<Published>;
}

export interface Analytics {
  video(id: string, period?: Period, options?: RequestOptions): Promise<VideoAnalytics>;
  /** Of the account, or of one channel. */
  overview(query?: Period & { readonly channelId?: string }, options?: RequestOptions): Promise<AnalyticsOverview>;
}

export interface VideoQuery {
  readonly channelId?: string;
  readonly status?: 'processing' | 'ready' | 'failed';
  /** 1 to 100; default 100. */
  readonly perPage?: number;
}

/**
 * `for await` gives one item after the other, over all pages, each id once, until a page is empty: never by `total` alone,
 * which changes while pages are read.
 */
export interface Pages<T> extends AsyncIterable<T> {
  /** @param page from 1 */
  page(page: number): Promise<VideoPage>;
  /** @param options.limit 0 or more items; all by default. No page is asked for beyond those that hold them. */
  toArray(options?: { readonly limit?: number }): Promise<T[]>;
}

export interface NewVideo {
  readonly title: string;
  readonly description?: string;
  readonly channelId?: string;
  readonly tags?: readonly string[];
}

/**
 * A file by its path, or bytes from anywhere: `open` is called once for each attempt and must give exactly `sizeBytes` bytes,
 * as a stream of Node, of Fetch, or anything else that `for await` takes. The name tells the content type by its extension.
 */
export type UploadSource = string | StreamSource;

export interface StreamSource {
  readonly name: string;
  readonly sizeBytes: number;
  open(): AsyncIterable<Uint8Array | string> | Promise<AsyncIterable<Uint8Array | string>>;
}

export interface SendCallOptions extends RequestOptions {
  /** Throwing from here ends the upload with what was thrown. */
  readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
  /** No byte moved for so long: broken off. In milliseconds, 1 to 2,147,483,647; default 60 s. */
  readonly stallTimeoutMs?: number;
  /** From the last byte to the answer, in milliseconds, 1 to 2,147,483,647; default 10 minutes, for a service that works on it. */
  readonly answerTimeoutMs?: number;
}

export interface UploadCallOptions extends SendCallOptions {
  /** Told, and waited for, as soon as the record exists, before the first byte. If it throws, nothing is sent. */
  readonly onCreated?: (video: CreatedVideo) => void | Promise<void>;
}

export interface UploadedVideo {
  readonly id: string;
  readonly sizeBytes: number;
  /** Of what was sent; hex. */
  readonly sha256: string;
}

export interface WaitOptions extends RequestOptions {
  /** For the whole wait, in milliseconds, 0 to 2,147,483,647. Default 1 h. */
  readonly waitMs?: number;
  /** Between two questions, in milliseconds, 1,000 to 2,147,483,647. Default 5 s. */
  readonly intervalMs?: number;
  /** Told the first status, and each one that differs from the last. */
  readonly onStatus?: (status: string) => void;
}
