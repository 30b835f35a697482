import type { Secret } from '../config/config.ts';
import type { Lane } from '../pipeline/file/ports.ts';
import { RateLimitedError, Transport, throwIfAborted } from '@dropcast/client';
import type {
  ApiRequest,
  Channel,
  CreatedVideo,
  Ending,
  Feed,
  PageQuery,
  ProxyEnvironment,
  Published,
  UploadOptions,
  Uploaded,
  Video,
  VideoChanges,
  VideoPage,
} from '@dropcast/client';
import { requests } from '@dropcast/client';

/** What every JSON request passes before it leaves. */
export interface RequestGate {
  take(lane: Lane, signal?: AbortSignal): Promise<void>;
  /** The service said 429. @param retryAfterMs undefined if it did not say how long */
  throttled(retryAfterMs: number | undefined): void;
}

export interface VideoServiceOptions {
  /** With its version segment, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Further origins, beside that of `baseUrl`, whose uploads may see the key. */
  readonly sendKeyTo: readonly string[];
  readonly gate: RequestGate;
  /** For a whole JSON exchange; 30 s by default. */
  readonly timeoutMs?: number;
  readonly userAgent?: string;
  /** `HTTPS_PROXY` and `NO_PROXY`; by default those of this process. */
  readonly proxyEnv?: ProxyEnvironment;
  readonly onRequest?: (request: RequestNote) => void;
}

/** One exchange, for logs and metrics. */
export interface RequestNote {
  readonly operation: string;
  /** Absent when no answer came. */
  readonly status?: number;
  readonly ms: number;
}

export interface CallOptions {
  readonly lane: Lane;
  readonly signal?: AbortSignal;
}

export interface CreateVideo {
  readonly title: string;
  readonly description?: string | null;
  readonly channelId: string;
  readonly tags: readonly string[];
  /** For an import: the service fetches it from there. */
  readonly sourceUrl?: string | null;
}

/**
 * The hosted service. One request per call, never repeated by itself and never redirected; each throws a `ServiceError`
 * (see errors.ts) and no other, except for what `beforeLastPart` and the gate's store reject with.
 */
export interface VideoService extends AsyncDisposable {
  /** `idempotencyKey` is sent along; the service ignores it, a later one or the sandbox may not. */
  createVideo(request: CreateVideo, options: { idempotencyKey: string; signal?: AbortSignal }): Promise<CreatedVideo>;
  getVideo(id: string, options: CallOptions): Promise<Video>;
  listVideos(query: PageQuery, options: CallOptions): Promise<VideoPage>;
  updateVideo(id: string, changes: VideoChanges, options: CallOptions): Promise<void>;
  /** A video that is already away is a NotFoundError. */
  deleteVideo(id: string, options: CallOptions): Promise<void>;
  listChannels(options: CallOptions): Promise<readonly Channel[]>;
  listFeeds(options: CallOptions): Promise<readonly Feed[]>;
  publishFeed(id: string, options: CallOptions): Promise<Published>;
  /** Not counted in the request budget. */
  upload(options: UploadOptions): Promise<Uploaded>;
}

export function createVideoService(options: VideoServiceOptions): VideoService {
  return new HttpVideoService(options);
}

class HttpVideoService implements VideoService {
  readonly #options: VideoServiceOptions;
  readonly #transport: Transport;

  constructor(options: VideoServiceOptions) {
    this.#options = options;
    this.#transport = new Transport(options);
  }

  createVideo(request: CreateVideo, options: { idempotencyKey: string; signal?: AbortSignal }): Promise<CreatedVideo> {
    const { idempotencyKey, ...rest } = options;
    return this.#ask(requests.createVideo(request, idempotencyKey), { ...rest, lane: 'create' });
  }

  async getVideo(id: string, options: CallOptions): Promise<Video> {
    return await this.#ask(requests.getVideo(id), options);
  }

  listVideos(query: PageQuery, options: CallOptions): Promise<VideoPage> {
    return this.#ask(requests.listVideos(query), options);
  }

  async updateVideo(id: string, changes: VideoChanges, options: CallOptions): Promise<void> {
    await this.#ask(requests.updateVideo(id, changes), options);
  }

  async deleteVideo(id: string, options: CallOptions): Promise<void> {
    await this.#ask(requests.deleteVideo(id), options);
  }

  listChannels(options: CallOptions): Promise<readonly Channel[]> {
    return this.#ask(requests.listChannels(), options);
  }

  listFeeds(options: CallOptions): Promise<readonly Feed[]> {
    return this.#ask(requests.listFeeds(), options);
  }

  async publishFeed(id: string, options: CallOptions): Promise<Published> {
    return await this.#ask(requests.publishFeed(id), options);
  }

  upload(options: UploadOptions): Promise<Uploaded> {
    return this.#transport.upload(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#transport[Symbol.asyncDispose]();
  }

  /** Budget, request, note, verdict. */
  async #ask<T>(request: ApiRequest<T>, call: CallOptions): Promise<T> {
    const { gate } = this.#options;
    const signal = this.#transport.untilClosed(call.signal);
    throwIfAborted(signal, request.operation);
    await gate.take(call.lane, signal);
    try {
      return await this.#transport.ask(request, { signal, onEnd: (ending) => this.#note(request.operation, ending) });
    } catch (error) {
      if (error instanceof RateLimitedError) gate.throttled(error.retryAfterMs);
      throw error;
    }
  }

  #note(operation: string, { status, ms }: Ending): void {
    this.#options.onRequest?.(status === undefined ? { operation, ms } : { operation, status, ms });
  }
}
