import type { Secret } from '../config/config.ts';
import type { Lane } from '../pipeline/ports.ts';
import { isSuccess, readAnswer, readNothing, serviceError, waitOf } from './answer.ts';
import type { Answer } from './answer.ts';
import { freshConnections, Line } from './connection.ts';
import type { ProxyEnvironment } from './connection.ts';
import { RejectedError, throwIfAborted } from './errors.ts';
import { exchange } from './exchange.ts';
import { createScrub } from './scrub.ts';
import type { Scrub } from './scrub.ts';
import { uploadFile } from './upload.ts';
import type { Uploaded, UploadOptions } from './upload.ts';
import { readChannels, readCreated, readFeeds, readPublished, readVideo, readVideoPage } from './wire.ts';
import type { Channel, CreatedVideo, Feed, Published, Reader, Video, VideoPage } from './wire.ts';

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
  /** `HTTPS_PROXY` and the like; by default those of this process. */
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

export interface VideoChanges {
  readonly title?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
}

/**
 * The hosted service. One request per call, never repeated by itself and never redirected; each throws a `ServiceError`
 * (see errors.ts) and no other, except for what `beforeLastPart` and the gate's store reject with.
 */
export interface VideoService extends AsyncDisposable {
  /** `idempotencyKey` is sent along; the service ignores it, a later one or the sandbox may not. */
  createVideo(request: CreateVideo, options: { idempotencyKey: string; signal?: AbortSignal }): Promise<CreatedVideo>;
  getVideo(id: string, options: CallOptions): Promise<Video>;
  /** `page` from 1, `perPage` 1 to 100. */
  listVideos(
    query: { page: number; perPage: number; channelId?: string; status?: string },
    options: CallOptions,
  ): Promise<VideoPage>;
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

interface Call extends CallOptions {
  /** In words, for messages and metrics. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly json?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

class HttpVideoService implements VideoService {
  readonly #options: VideoServiceOptions;
  readonly #agent: ReturnType<typeof freshConnections>;
  readonly #scrub: Scrub;
  readonly #userAgent: string;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: VideoServiceOptions) {
    const key = requireHeaderValue(options.apiKey.reveal());
    this.#options = options;
    this.#scrub = createScrub([key]);
    this.#userAgent = options.userAgent ?? 'dropcast';
    this.#agent = freshConnections(options.proxyEnv ?? process.env);
  }

  createVideo(request: CreateVideo, options: { idempotencyKey: string; signal?: AbortSignal }): Promise<CreatedVideo> {
    const { idempotencyKey, ...rest } = options;
    const call: Call = {
      ...rest,
      operation: 'create video',
      lane: 'create',
      method: 'POST',
      path: '/videos',
      headers: { 'idempotency-key': idempotencyKey },
      json: {
        title: request.title,
        description: request.description ?? undefined,
        channel_id: request.channelId,
        tags: request.tags,
        source_url: request.sourceUrl ?? undefined,
      },
    };
    const isImport = typeof request.sourceUrl === 'string';
    return this.#ask(call, (json) => {
      const created = readCreated(json);
      return created?.uploadUrl === null && !isImport ? undefined : created;
    });
  }

  getVideo(id: string, options: CallOptions): Promise<Video> {
    return this.#ask({ ...options, operation: 'get video', method: 'GET', path: pathOf('/videos', id) }, readVideo);
  }

  listVideos(
    query: { page: number; perPage: number; channelId?: string; status?: string },
    options: CallOptions,
  ): Promise<VideoPage> {
    const { page, perPage, channelId, status } = query;
    const call: Call = {
      ...options,
      operation: 'list videos',
      method: 'GET',
      path: '/videos',
      query: { page, per_page: perPage, channel_id: channelId, status },
    };
    return this.#ask(call, readVideoPage(query));
  }

  async updateVideo(id: string, changes: VideoChanges, options: CallOptions): Promise<void> {
    const { title, description, tags } = changes;
    const json = { title, description, tags };
    await this.#tell({ ...options, operation: 'update video', method: 'PATCH', path: pathOf('/videos', id), json });
  }

  async deleteVideo(id: string, options: CallOptions): Promise<void> {
    await this.#tell({ ...options, operation: 'delete video', method: 'DELETE', path: pathOf('/videos', id) });
  }

  listChannels(options: CallOptions): Promise<readonly Channel[]> {
    return this.#ask({ ...options, operation: 'list channels', method: 'GET', path: '/channels' }, readChannels);
  }

  listFeeds(options: CallOptions): Promise<readonly Feed[]> {
    return this.#ask({ ...options, operation: 'list feeds', method: 'GET', path: '/feeds' }, readFeeds);
  }

  async publishFeed(id: string, options: CallOptions): Promise<Published> {
    const call: Call = {
      ...options,
      operation: 'publish feed',
      method: 'POST',
      path: `${pathOf('/feeds', id)}/publish`,
    };
    const answer = await this.#exchange(call);
    // The body is shown in the specification, the status is not: a 204 has none.
    return answer.body.trim() === '' ? { status: 'published' } : readAnswer(answer, readPublished, call.operation);
  }

  upload(options: UploadOptions): Promise<Uploaded> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    const { apiKey, baseUrl, sendKeyTo } = this.#options;
    // Every request to the service itself carries the key (api-spec section 5); another origin only if it was named.
    const trusted = new Set([new URL(baseUrl).origin, ...sendKeyTo]);
    const keyFor = (origin: string) => (trusted.has(origin) ? apiKey.reveal() : null);
    return this.#track(uploadFile({ ...options, signal }, { agent: this.#agent, userAgent: this.#userAgent, keyFor }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
    this.#agent.http.destroy();
    this.#agent.https.destroy();
  }

  async #ask<T>(call: Call, read: Reader<T>): Promise<T> {
    return readAnswer(await this.#exchange(call), read, call.operation);
  }

  async #tell(call: Call): Promise<void> {
    readNothing(await this.#exchange(call), call.operation);
  }

  /** Budget, request, note, verdict. */
  async #exchange(call: Call): Promise<Answer> {
    const signal = AbortSignal.any([this.#closing.signal, ...(call.signal === undefined ? [] : [call.signal])]);
    throwIfAborted(signal, call.operation);
    await this.#options.gate.take(call.lane, signal);
    const answer = await this.#track(this.#noted(call.operation, this.#send(call, signal)));
    if (isSuccess(answer.status)) return answer;
    if (answer.status === 429) this.#options.gate.throttled(waitOf(answer, Date.now()));
    throw serviceError(answer, this.#scrub, Date.now());
  }

  #send(call: Call, signal: AbortSignal): Promise<Answer> {
    const url = new URL(`${this.#options.baseUrl}${call.path}`);
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return exchange({
      what: call.operation,
      method: call.method,
      url,
      headers: {
        ...call.headers,
        accept: 'application/json',
        'user-agent': this.#userAgent,
        authorization: `Bearer ${this.#options.apiKey.reveal()}`,
      },
      json: call.json,
      agent: this.#agent,
      line: new Line(),
      signal,
      timeoutMs: this.#options.timeoutMs ?? 30_000,
    });
  }

  async #noted(operation: string, exchange: Promise<Answer>): Promise<Answer> {
    const startedAt = performance.now();
    const note = (status?: number) => {
      const ms = performance.now() - startedAt;
      this.#options.onRequest?.(status === undefined ? { operation, ms } : { operation, status, ms });
    };
    try {
      const answer = await exchange;
      note(answer.status);
      return answer;
    } catch (error) {
      note();
      throw error;
    }
  }

  /** What is under way is waited for when the client is closed. */
  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }
}

/** An id as one segment of a path. `.` and `..` would be resolved away even when encoded, and reach another endpoint. */
function pathOf(collection: string, id: string): string {
  if (id === '' || id === '.' || id === '..') {
    throw new RejectedError(`${JSON.stringify(id)} is not an id`, { code: 'invalid_id' });
  }
  return `${collection}/${encodeURIComponent(id)}`;
}

function requireHeaderValue(key: string): string {
  if (!/^[\u0021-\u007e]+$/.test(key))
    throw new TypeError('the API key is empty or holds characters that no header can carry');
  return key;
}
