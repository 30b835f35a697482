import type { Call } from './call.ts';
import type { BodyReader } from './upload/body-reader.ts';
import type { UploadProtocol } from './upload/protocols/protocol.ts';
import type { WaitNote } from './waiting.ts';
import type { AnalyticsOverview, AnalyticsPage, Engagement, Period, VideoAnalytics } from './wire/analytics.ts';
import type { Channel, ChannelListItem } from './wire/channels.ts';
import type { Feed, Published } from './wire/feeds.ts';
import type { ChannelChanges, CustomRequest, VideoChanges } from './wire/requests.ts';
import type { CreatedVideo, Video, VideoListItem, VideoPage, VideoStatus } from './wire/videos.ts';

/**
 * The whole API of the video service, typed (api-spec section 4). Create one with `createVideoClient`.
 *
 * Every method rejects with a subclass of `ServiceError`, with a `TypeError` for an unknown key or an option out of
 * range, or with the error of a function that you supplied (`requestGate`, `beforeLastPart`, `onProgress`, a source).
 * The methods that return `Pages` throw the `TypeError` at once. Leaving the scope of
 * an `await using`, or calling `[Symbol.asyncDispose]()`, aborts running calls and waits for them to finish.
 */
export interface VideoClient extends AsyncDisposable {
  readonly videos: Videos;
  readonly channels: Channels;
  readonly feeds: Feeds;
  readonly analytics: Analytics;
  /**
   * Sends any other request to the service, with the same key, gate, hooks, retries and errors as the methods.
   *
   * @returns the JSON of a 2xx response; null if its body is empty or not JSON
   * @throws {UnreadableAnswerError} a web page answered
   */
  request(request: CustomRequest, options?: RequestOptions): Call<unknown>;
}

/** Options that every call accepts. */
export interface RequestOptions {
  /** Aborts the call, including its waits. The call then rejects with AbortedError. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout for one request including its response, in milliseconds, 1 to 2,147,483,647. Default: the client's. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of retries for a request that may be repeated, 0 to 10. Default: the client's. */
  readonly maxRetries?: number | undefined;
  /** Longest `Retry-After` that this call waits for, in milliseconds, 0 to 86,400,000. Default: the client's. */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * Called before each wait of this call, in addition to the client's `onWait`. If it throws, the error becomes a
   * process warning.
   */
  readonly onWait?: ((note: WaitNote) => void) | undefined;
  /** Any word. The client passes it to `requestGate` with each request of this call and otherwise ignores it. */
  readonly priority?: string | undefined;
  /** Additional headers for the requests of this call. One with the same name replaces one of the client's. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of `create` and `import`. */
export interface CreateOptions extends RequestOptions {
  /**
   * Value of the `Idempotency-Key` header. Pass the same key again to get the same record, for example after a restart.
   * Requires a client with `honoursIdempotencyKey`; any other throws a `TypeError`. Default: a new UUID for each call.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Videos and their files (api-spec section 4.1). */
export interface Videos {
  /**
   * Lists all videos that match the query, in the service's order, in pages. Sends nothing until awaited or iterated.
   */
  list(query?: VideoQuery, options?: RequestOptions): Pages<VideoListItem, VideoPage>;
  /** @throws {NotFoundError} the video does not exist */
  get(id: string, options?: RequestOptions): Call<Video>;
  /**
   * Creates a record, whose file `send` then uploads. A retry could create a second record, so there is none unless the
   * service cannot have acted (nothing was sent, or it answered 429) or the client has `honoursIdempotencyKey`.
   */
  create(fields: NewVideo, options?: CreateOptions): Call<CreatedVideo>;
  /** Creates a record whose file the service fetches from an address. Retried under the same conditions as `create`. */
  import(sourceUrl: string, fields: NewVideo, options?: CreateOptions): Call<CreatedVideo>;
  /** @returns the changed video, or null if the response does not contain it (the specification does not show one) */
  update(id: string, changes: VideoChanges, options?: RequestOptions): Call<Video | null>;
  /**
   * Deletes a video with all its assets, irreversibly. A 404 on a retry counts as success if an earlier attempt may
   * have deleted the video.
   * @throws {NotFoundError} the video did not exist to begin with
   */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /**
   * Combines `create` and `send`. If sending fails, the record remains without a file; `onCreated` receives its id.
   *
   * @throws as `create` and `send`
   */
  upload(source: UploadSource, fields: NewVideo, options?: UploadCallOptions): Promise<UploadedVideo>;
  /**
   * Sends a record's file. After a failed PUT it requests the video's status and retries, at most `maxRetries` times,
   * only if the status is `pending`. So no file arrives twice, and an upload whose response was lost is recognised. See
   * `askAfterFailure`.
   *
   * @throws {FileVanishedError | FileUnreadableError} the file does not exist or cannot be read
   * @throws {FileChangedError} the file changed during the upload, or the stream has a different length
   * @throws {AddressDeadError | UploadConflictError | UploadRejectedError | UploadServerError} the upload address
   *   refused the file
   * @throws {UploadStalledError | ConnectionError | RequestTimeoutError} the last attempt stalled or lost its
   *   connection
   * @throws {RedirectError} the upload address redirects, which is never followed
   * @throws {VideoFailedError} the response was lost, and the service reports that the video failed
   */
  send(
    source: UploadSource,
    created: Pick<CreatedVideo, 'id' | 'uploadUrl' | 'uploadHeaders'>,
    options?: SendCallOptions,
  ): Promise<UploadedVideo>;
  /**
   * Polls the status until it is `ready`. Any status other than `ready` and `failed` means 'not yet', including ones
   * that the service adds later. Each pause is reported to `onWait`. As in every call, a pause that the service
   * requests (429) is honoured up to `maxRetryAfterMs`.
   *
   * @throws {VideoFailedError} the status is `failed`; `reason` is the service's explanation, if any
   * @throws {RateLimitedError} the service asks for a longer pause than `maxRetryAfterMs` or the rest of `waitMs`
   * @throws {WaitTimeoutError} the video is not ready within `waitMs`
   * @throws {NotFoundError} the video does not exist, or no longer does
   */
  waitUntilReady(id: string, options?: WaitOptions): Promise<Video>;
}

/** The account's channels (api-spec section 4.2). */
export interface Channels {
  /** Lists all channels of the account. */
  list(options?: RequestOptions): Call<readonly ChannelListItem[]>;
  /** @returns the changed channel, or null if the response does not contain it (the specification does not show one) */
  update(id: string, changes: ChannelChanges, options?: RequestOptions): Call<Channel | null>;
}

/** The account's distribution feeds (api-spec section 4.3). */
export interface Feeds {
  /** Lists all active feeds of the account. */
  list(options?: RequestOptions): Call<readonly Feed[]>;
  /** Refreshes the feed with the latest videos. Retried like a read, because a second publish changes nothing. */
  publish(id: string, options?: RequestOptions): Call<Published>;
}

/** Views and engagement (api-spec section 4.4). */
export interface Analytics {
  /** Returns views and engagement for one video. */
  video(id: string, period?: Period, options?: RequestOptions): Call<VideoAnalytics>;
  /**
   * Returns views and engagement for the videos of one channel or of all, in pages. The specification does not show the
   * response without a `video_id`. A single record covering all videos becomes a list of one, without `videoId`.
   */
  videos(query?: AnalyticsQuery, options?: RequestOptions): Pages<Engagement, AnalyticsPage>;
  /** Returns totals for the account or one channel. */
  overview(query?: OverviewQuery, options?: RequestOptions): Call<AnalyticsOverview>;
}

/** Filters the figures that `analytics.overview` returns. */
export interface OverviewQuery extends Period {
  readonly channelId?: string | undefined;
}

/** Filters the figures that `analytics.videos` returns. */
export interface AnalyticsQuery extends OverviewQuery {
  /** Maximum number of records to iterate over, 0 or more. Default: all. */
  readonly limit?: number | undefined;
}

/** Filters a list of videos. */
export interface VideoQuery {
  readonly channelId?: string | undefined;
  readonly status?: 'processing' | 'ready' | 'failed' | undefined;
  /** Page size, 1 to 100. Default 100. */
  readonly perPage?: number | undefined;
  /** Maximum number of videos to iterate over, 0 or more; no page beyond them is read. Default: all. */
  readonly limit?: number | undefined;
}

/**
 * A list in pages. `for await` yields each item once, across all pages, until a page is empty. It does not rely on
 * `total`, which changes while pages are being read.
 */
export interface Pages<T, Page> extends AsyncIterable<T> {
  /** @param page from 1 */
  page(page: number): Call<Page>;
  /**
   * @param options.limit maximum number of items, 0 or more; no page beyond them is read. Default: the query's limit.
   */
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
 * Source of an upload: the path or `file:` URL of a file, bytes in memory, a Blob or File, or bytes from elsewhere. The
 * name's extension determines the content type; bytes and a Blob have no name, so give them `contentType`. Bytes must not
 * change during the upload. For a file on the web, `videos.import` lets the service fetch it.
 */
export type UploadSource = string | URL | Uint8Array | BlobSource | OpenStreamSource | StreamSource | SeekableSource;

/** A Blob or File of Node, of a browser's types, or of another package. */
export interface BlobSource {
  /** Only a File has one. */
  readonly name?: string;
  readonly size: number;
  slice(start?: number, end?: number): Pick<BlobSource, 'arrayBuffer'>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * A stream of known length that is already open: of Node, of Fetch or any other async iterable. It can be read once, so
 * an attempt that fails after its first byte is the last one.
 */
export interface OpenStreamSource {
  readonly name: string;
  /** Length in whole bytes, 0 or more. */
  readonly sizeBytes: number;
  readonly stream: AsyncIterable<Uint8Array | string>;
}

/** A stream of known length. */
export interface StreamSource {
  readonly name: string;
  /** Length in whole bytes, 0 or more. */
  readonly sizeBytes: number;
  /**
   * Called once per attempt. Returns a Node stream, a Fetch stream or any other async iterable, of exactly `sizeBytes`
   * bytes. An upload that ends early destroys or cancels the stream; a generator that is waiting for something stops
   * only when that wait is over.
   */
  open(): AsyncIterable<Uint8Array | string> | Promise<AsyncIterable<Uint8Array | string>>;
}

/** Bytes that can be read by position and verified before the last of them is sent, like an open file. */
export interface SeekableSource {
  readonly name: string;
  /** Length in whole bytes, 0 or more. */
  readonly sizeBytes: number;
  /**
   * Called once per attempt; must provide the same `sizeBytes` bytes each time. The reader is disposed of when the
   * attempt has finished. For open files see `readOpenFile`.
   */
  openReader(): Promise<BodyReader>;
}

/** Options of `send`. */
export interface SendCallOptions extends RequestOptions {
  /**
   * Called whenever the kernel has accepted more bytes. Each attempt counts from zero again, or from where it
   * continues; an empty file causes no calls. Awaited if async; its error ends the upload.
   */
  readonly onProgress?: ((sentBytes: number, totalBytes: number) => void) | undefined;
  /**
   * Awaited when everything has been read and confirmed, before the last part (up to 1 MiB) is sent: durably record
   * here what is being sent. Called again with the same hash when the file is sent again. Its error ends the upload,
   * and the service never gets a complete file.
   *
   * @param sha256 hash of the whole body, hex
   */
  readonly beforeLastPart?: ((sha256: string) => unknown) | undefined;
  /**
   * Whether to request the status after a failed PUT, to find out whether the file arrived and may be sent again. With
   * `false` there is one PUT and nothing else: its error is thrown, and the caller must request the status before
   * sending the file again. Default true. In either case a server that answers 417 to `Expect: 100-continue` gets the
   * same PUT without it (RFC 9110 section 10.1.1).
   */
  readonly askAfterFailure?: boolean | undefined;
  /**
   * Additional headers for the PUT, and not for requests to the service; one with the same name replaces a header requested in the create response.
   * Connection headers such as `Host`, `Content-Length` and `Expect` are not allowed.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The `Content-Type` of the PUT; null omits it. Default: the one requested in the create response, otherwise by file
   * extension. A host that reports a signature mismatch gets the same body once more without the header. If that
   * succeeds, later PUTs to the host omit it.
   */
  readonly contentType?: string | null | undefined;
  /**
   * How the upload host receives files. Default: in one PUT, unless the address or an answer of the host shows that it
   * speaks another protocol; that is remembered for the host.
   */
  readonly protocol?: UploadProtocol | undefined;
  /**
   * What `onSession` last received for this upload, perhaps in an earlier process. The upload then continues where the
   * host says that it stopped. If `beforeLastPart` was called since, set `reach` to the size of the file, and have
   * `beforeLastPart` compare the hash: the host may have the whole file.
   */
  readonly session?: UploadSession | null | undefined;
  /**
   * Called by uploads that can be continued, before the first byte, when the host confirms bytes, and before `reach` is
   * exceeded. Awaited if async: store it durably. Its error ends the upload.
   */
  readonly onSession?: ((session: UploadSession) => unknown) | undefined;
  /** Longest time without progress, in milliseconds, 1 to 2,147,483,647. Default 60,000. */
  readonly stallTimeoutMs?: number | undefined;
  /** Longest time from the last byte to the response, in milliseconds, 1 to 2,147,483,647. Default 600,000. */
  readonly answerTimeoutMs?: number | undefined;
}

/** The state of an upload that can be continued. */
export interface UploadSession {
  readonly protocol: Exclude<UploadProtocol, 'put'>;
  /** Number of bytes that the host has confirmed. */
  readonly offset: number;
  /** Number of bytes that may have been sent, apart from the last part. A host that claims more is not believed. */
  readonly reach: number;
  /** Version of the reader when the bytes were sent; null if it has none. */
  readonly version: string | null;
}

/** Options of `upload`. */
export interface UploadCallOptions extends SendCallOptions, CreateOptions {
  /** Awaited as soon as the record exists, before the first byte is sent. If it throws, nothing is sent. */
  readonly onCreated?: ((video: CreatedVideo) => unknown) | undefined;
}

/** An uploaded file and its record. */
export interface UploadedVideo {
  readonly id: string;
  readonly sizeBytes: number;
  /** SHA-256 of the bytes sent, hex. */
  readonly sha256: string;
}

/** Options of `waitUntilReady`. */
export interface WaitOptions extends RequestOptions {
  /**
   * Time limit for the whole wait, in milliseconds, 0 to 2,147,483,647. Whatever is still running at the end is
   * aborted, including a request. The last request starts a second before the end, or halfway through a wait under two
   * seconds. 0 asks once and waits for the response. Default 3,600,000.
   */
  readonly waitMs?: number | undefined;
  /**
   * Pause between requests, in milliseconds, 100 to 2,147,483,647, or a function that returns it. The function
   * receives the milliseconds waited so far, a whole number, and its result is rounded up. Default 5,000.
   */
  readonly intervalMs?: (number | ((waitedMs: number) => number)) | undefined;
  /** Called with the first status and with each change. Awaited if async; its error ends the wait. */
  readonly onStatus?: ((status: VideoStatus) => void) | undefined;
}
