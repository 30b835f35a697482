import type { Call } from './call.ts';
import type { BodyReader } from './upload/body-reader.ts';
import type { WaitNote } from './waiting.ts';
import type { AnalyticsOverview, AnalyticsPage, Engagement, Period, VideoAnalytics } from './wire/analytics.ts';
import type { Channel, ChannelListItem } from './wire/channels.ts';
import type { Feed, Published } from './wire/feeds.ts';
import type { ChannelChanges, VideoChanges } from './wire/requests.ts';
import type { CreatedVideo, Video, VideoListItem, VideoPage, VideoStatus } from './wire/videos.ts';

/**
 * The whole API of the video service, typed (api-spec section 4). Made by `createVideoClient`.
 *
 * Every method rejects with a subclass of `ServiceError`, with a `TypeError` for an option out of its range, or with
 * the error of your own function (`requestGate`, `beforeLastPart`, `onProgress`, a source). Leaving the scope of an
 * `await using`, or calling `[Symbol.asyncDispose]()`, aborts running calls and waits until they have ended.
 */
export interface VideoClient extends AsyncDisposable {
  readonly videos: Videos;
  readonly channels: Channels;
  readonly feeds: Feeds;
  readonly analytics: Analytics;
}

/** Options of every call. */
export interface RequestOptions {
  /** Aborts the call, its waits included: it rejects with AbortedError. */
  readonly signal?: AbortSignal | undefined;
  /** Time for one request and its answer, in milliseconds, 1 to 2,147,483,647; default: that of the client. */
  readonly timeoutMs?: number | undefined;
  /** How often a request that may be repeated is tried again, 0 to 10; default: that of the client. */
  readonly maxRetries?: number | undefined;
  /**
   * The longest `Retry-After` that this call waits for, in milliseconds, 0 to 86,400,000; default: that of the client.
   */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * Called before each wait of this call, in addition to that of the client. If it throws, the error becomes a process
   * warning.
   */
  readonly onWait?: ((note: WaitNote) => void) | undefined;
  /** Any word; the client passes it to its `requestGate` with each request of this call and ignores it otherwise. */
  readonly priority?: string | undefined;
}

/** Options of `create` and `import`. */
export interface CreateOptions extends RequestOptions {
  /**
   * Sent as the header `Idempotency-Key`: pass the same one to get the same record again, after a restart for example.
   * Only for a client with `honoursIdempotencyKey`, otherwise a `TypeError`. Default there: a new UUID for each call.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Videos and their files (api-spec section 4.1). */
export interface Videos {
  /**
   * All videos that the query selects, in the order of the service, in pages. Sends nothing before it is awaited or
   * iterated.
   */
  list(query?: VideoQuery, options?: RequestOptions): Pages<VideoListItem, VideoPage>;
  /** @throws {NotFoundError} there is no such video */
  get(id: string, options?: RequestOptions): Call<Video>;
  /**
   * Creates a record; `send` then sends its file. Not repeated automatically, because that could create a second
   * record, except where the service cannot have acted (nothing was sent, or it answered 429) or the client has
   * `honoursIdempotencyKey`.
   */
  create(fields: NewVideo, options?: CreateOptions): Call<CreatedVideo>;
  /** Creates a record whose file the service fetches from an address. Repeated as rarely as `create`. */
  import(sourceUrl: string, fields: NewVideo, options?: CreateOptions): Call<CreatedVideo>;
  /** @returns the changed video if the answer contains it (the specification does not show it), otherwise null */
  update(id: string, changes: VideoChanges, options?: RequestOptions): Call<Video | null>;
  /**
   * Deletes a video with all its assets; it cannot be undone. If a repetition finds nothing, the first attempt has done
   * it.
   * @throws {NotFoundError} there was no such video to begin with
   */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /**
   * `create` and `send` in one. If sending fails, the record remains without a file; `onCreated` gets its id.
   *
   * @throws as `create` and `send`
   */
  upload(source: UploadSource, fields: NewVideo, options?: UploadCallOptions): Promise<UploadedVideo>;
  /**
   * Sends the file of a record. After a PUT that failed it asks for the status of the video, and sends again, at most
   * `maxRetries` times, only if that is `pending`: so no file arrives twice, and a lost answer is recognised. See
   * `askAfterFailure`.
   *
   * @throws {FileVanishedError | FileUnreadableError} the file is not there or cannot be read
   * @throws {FileChangedError} the file changed while it was sent, or the stream has another length
   * @throws {AddressDeadError | UploadConflictError | UploadRejectedError | UploadServerError} the upload address
   *   refuses
   * @throws {UploadStalledError | ConnectionError | RequestTimeoutError} no byte moved, or the connection broke, in the
   *   last attempt
   * @throws {RedirectError} the upload address redirects, which is never followed
   * @throws {VideoFailedError} the answer was lost, and the service says that the video failed
   */
  send(
    source: UploadSource,
    created: Pick<CreatedVideo, 'id' | 'uploadUrl' | 'uploadHeaders'>,
    options?: SendCallOptions,
  ): Promise<UploadedVideo>;
  /**
   * Polls the status until it is `ready`. Any status other than `ready` and `failed` means 'not yet', also one that the
   * service adds later. Each pause is reported to `onWait`. A pause that the service asks for (429) is observed as in
   * every call: at most `maxRetryAfterMs`.
   *
   * @throws {VideoFailedError} the status is `failed`; `reason` says why, if the service does
   * @throws {RateLimitedError} the service asks for a longer pause than `maxRetryAfterMs`, or than what is left of
   *   `waitMs`
   * @throws {WaitTimeoutError} it is not ready within `waitMs`
   * @throws {NotFoundError} the video does not exist, or no longer does
   */
  waitUntilReady(id: string, options?: WaitOptions): Promise<Video>;
}

/** Channels of the account (api-spec section 4.2). */
export interface Channels {
  /** All channels of the account. */
  list(options?: RequestOptions): Call<readonly ChannelListItem[]>;
  /** @returns the changed channel if the answer contains it (the specification does not show it), otherwise null */
  update(id: string, changes: ChannelChanges, options?: RequestOptions): Call<Channel | null>;
}

/** Distribution feeds of the account (api-spec section 4.3). */
export interface Feeds {
  /** All active feeds of the account. */
  list(options?: RequestOptions): Call<readonly Feed[]>;
  /** Refreshes the feed with the latest videos. Repeated like a read: a second publish changes nothing. */
  publish(id: string, options?: RequestOptions): Call<Published>;
}

/** Views and engagement (api-spec section 4.4). */
export interface Analytics {
  /** Views and engagement of one video. */
  video(id: string, period?: Period, options?: RequestOptions): Call<VideoAnalytics>;
  /**
   * Views and engagement of the videos of a channel, or of all, in pages. The specification does not show the answer
   * without a `video_id`: one record for all of them becomes a list of one, without `videoId`.
   */
  videos(query?: AnalyticsQuery, options?: RequestOptions): Pages<Engagement, AnalyticsPage>;
  /** Totals of the account, or of one channel. */
  overview(
    query?: Period & { readonly channelId?: string | undefined },
    options?: RequestOptions,
  ): Call<AnalyticsOverview>;
}

/** Selects the figures of `analytics.videos`. */
export interface AnalyticsQuery extends Period {
  readonly channelId?: string | undefined;
  /** 0 or more; iterating ends after this many. Default: all. */
  readonly limit?: number | undefined;
}

/** Selects the videos of a list. */
export interface VideoQuery {
  readonly channelId?: string | undefined;
  readonly status?: 'processing' | 'ready' | 'failed' | undefined;
  /** 1 to 100; default 100. */
  readonly perPage?: number | undefined;
  /** 0 or more; iterating ends after this many, and no page beyond them is read. Default: all. */
  readonly limit?: number | undefined;
}

/**
 * A list in pages. `for await` gives each item once, over all pages, until a page is empty; it does not rely on
 * `total`, which changes while pages are read.
 */
export interface Pages<T, Page> extends AsyncIterable<T> {
  /** @param page from 1 */
  page(page: number): Call<Page>;
  /** @param options.limit 0 or more items; default: that of the query. Reads no page beyond those. */
  toArray(options?: { readonly limit?: number | undefined }): Promise<T[]>;
}

/** The fields of a new record. */
export interface NewVideo {
  readonly title: string;
  readonly description?: string | undefined;
  readonly channelId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/**
 * The source of an upload: the path of a file, or bytes from elsewhere. The extension of the name decides the content
 * type.
 */
export type UploadSource = string | StreamSource | SeekableSource;

/** A stream of known length. */
export interface StreamSource {
  readonly name: string;
  /** Whole bytes, 0 or more. */
  readonly sizeBytes: number;
  /**
   * Called once per attempt. A stream of Node, of Fetch, or anything else that works with `for await`, of exactly
   * `sizeBytes` bytes. An upload that ends early destroys or cancels it; a generator that waits for something ends only
   * after that.
   */
  open(): AsyncIterable<Uint8Array | string> | Promise<AsyncIterable<Uint8Array | string>>;
}

/** Bytes that can be read by position and checked once more before the last of them leave, like an open file. */
export interface SeekableSource {
  readonly name: string;
  /** Whole bytes, 0 or more. */
  readonly sizeBytes: number;
  /**
   * Called once per attempt; the reader is disposed of when the attempt has ended. Opens the same bytes each time,
   * `sizeBytes` of them. For open files see `readOpenFile`.
   */
  openReader(): Promise<BodyReader>;
}

/** Options of `send`. */
export interface SendCallOptions extends RequestOptions {
  /**
   * Called when the kernel has taken more bytes; each attempt starts again at the first, and an empty file has none.
   * Awaited if it is async; its error ends the upload.
   */
  readonly onProgress?: ((sentBytes: number, totalBytes: number) => void) | undefined;
  /**
   * Awaited when everything was read and confirmed, before the last part (up to 1 MiB) leaves: record durably here what
   * was sent. Called again, with the same hash, when the file is sent again. Its error ends the upload, and the service
   * never gets a complete file.
   *
   * @param sha256 of the whole body, hex
   */
  readonly beforeLastPart?: ((sha256: string) => unknown) | undefined;
  /**
   * Whether to request the status after a failed PUT, to recognise a file that did arrive and to know whether it may be
   * sent again. `false`: one PUT and nothing else; its error is thrown, and the caller must request the status before
   * the file is sent again. Default true. In either case a server that answers 417 to `Expect: 100-continue` gets the
   * same PUT without it (RFC 9110 section 10.1.1).
   */
  readonly askAfterFailure?: boolean | undefined;
  /**
   * Headers of the PUT besides those that the create answer asks for; one of the same name replaces it. Not those of
   * the connection, such as `Host`, `Content-Length` and `Expect`.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The `Content-Type` of the PUT; null: none. Default: as the create answer asks, else by the extension of the name. A
   * host whose answer says that the signature does not match gets the same body once more without one, and later PUTs
   * to a host that takes it then have none.
   */
  readonly contentType?: string | null | undefined;
  /** Longest time without a byte that moves, in milliseconds, 1 to 2,147,483,647. Default 60,000. */
  readonly stallTimeoutMs?: number | undefined;
  /** Longest time from the last byte to the answer, in milliseconds, 1 to 2,147,483,647. Default 600,000. */
  readonly answerTimeoutMs?: number | undefined;
}

/** Options of `upload`. */
export interface UploadCallOptions extends SendCallOptions {
  /** Awaited as soon as the record exists, before the first byte. If it throws, nothing is sent. */
  readonly onCreated?: ((video: CreatedVideo) => unknown) | undefined;
}

/** A file that was sent, and the record that it belongs to. */
export interface UploadedVideo {
  readonly id: string;
  readonly sizeBytes: number;
  /** SHA-256 of the sent bytes, hex. */
  readonly sha256: string;
}

/** Options of `waitUntilReady`. */
export interface WaitOptions extends RequestOptions {
  /**
   * For the whole wait, in milliseconds, 0 to 2,147,483,647; anything running at the end is cut off, including a
   * request. The last request starts a second before the end, in waits below two seconds halfway. 0 asks once, and
   * waits for the answer. Default 3,600,000.
   */
  readonly waitMs?: number | undefined;
  /**
   * Between two requests, in milliseconds, 1,000 to 2,147,483,647, or a function that returns it for the milliseconds
   * waited so far, a whole number; its result is rounded up. Default 5,000.
   */
  readonly intervalMs?: (number | ((waitedMs: number) => number)) | undefined;
  /**
   * Called with the first status, and with each one that differs from the last. Awaited if it is async; its error ends
   * the wait.
   */
  readonly onStatus?: ((status: VideoStatus) => void) | undefined;
}
