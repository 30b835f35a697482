import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { PartialBody, takePart } from './resumable-host.ts';
import type { Resumable } from './resumable-host.ts';
import { checkRequest } from '../contract/contract.ts';
import { listen, type RunningServer } from '../support/server.ts';

/** One video as the judge remembers it. */
export interface HostedVideo {
  readonly id: string;
  title: string;
  description: string | null;
  channelId: string;
  tags: readonly string[];
  sourceUrl: string | null;
  status: 'pending' | 'processing' | 'ready' | 'failed';
  readonly createdAt: number;
  /** Complete bodies received, as SHA-256. A second one is a duplicate upload. */
  readonly bodies: string[];
  size: number;
}

export interface HostOptions {
  /** Of the API; any free one by default. For a service that comes up later than its client. */
  readonly port?: number;
  readonly key?: string;
  /** Answers in `{data:{…}}` or bare: the specification leaves it open in places. */
  readonly wraps?: boolean;
  /** Ids of what the account has. */
  readonly channels?: () => readonly string[];
  readonly feeds?: () => readonly string[];
  readonly order?: 'newest-first' | 'oldest-first';
  readonly processingMs?: () => number;
  /** Keeps what arrived of a broken upload. By default each upload is one PUT. */
  readonly resumable?: Resumable;
  /** Further fields of the answer to a creation. */
  readonly created?: object;
  /** Looks at an API request first; true means it has answered or cut it. */
  readonly meddle?: (request: IncomingMessage, response: ServerResponse, body: Buffer) => boolean | Promise<boolean>;
  readonly meddleUpload?: (
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
  ) => boolean | Promise<boolean>;
}

/** Another implementation of api-spec.md, written apart from the sandbox: the judge of what dropcast really did. */
export interface VideoHost extends AsyncDisposable {
  readonly baseUrl: string;
  readonly uploadOrigin: string;
  readonly key: string;
  readonly videos: Map<string, HostedVideo>;
  readonly requests: { readonly method: string; readonly path: string; readonly at: number }[];
  /** Upload requests as they arrived, by video. */
  readonly puts: string[];
  /** What arrived of each file, where uploads can be continued. */
  readonly partial: Map<string, PartialBody>;
  readonly publishes: { readonly feed: string; readonly at: number }[];
  /** Upload requests that carried the key: must stay empty, the upload host is another origin. */
  readonly leaks: string[];
  readonly deleted: string[];
  /** What of the requests is against openapi.yaml; the end of the judge throws it. */
  readonly offences: Set<string>;
}

/** Starts the API on one port of the loopback interface and the upload host on another. */
export async function startVideoHost(options: HostOptions = {}): Promise<VideoHost> {
  const key = options.key ?? `key-${randomBytes(12).toString('hex')}`;
  const videos = new Map<string, HostedVideo>();
  const host = {
    key,
    videos,
    requests: [],
    puts: [],
    partial: new Map(),
    publishes: [],
    leaks: [],
    deleted: [],
    offences: new Set(),
  } as Omit<VideoHost, 'baseUrl' | 'uploadOrigin' | typeof Symbol.asyncDispose>;
  const uploads = createServer((request, response) => void takeUpload(host, options, request, response));
  uploads.on('checkContinue', (request, response: ServerResponse) => void takeUpload(host, options, request, response));
  await using stack = new AsyncDisposableStack();
  const { origin: uploadOrigin } = stack.use(await serve(uploads));
  const api = createServer((request, response) => void serveApi(host, options, uploadOrigin, { request, response }));
  const { origin } = stack.use(await serve(api, options.port));
  const servers = stack.move();
  return {
    ...host,
    baseUrl: `${origin}/v1`,
    uploadOrigin,
    [Symbol.asyncDispose]: async () => {
      await servers.disposeAsync();
      if (host.offences.size > 0) throw new Error(`against openapi.yaml:\n  ${[...host.offences].join('\n  ')}`);
    },
  };
}

type Core = Omit<VideoHost, 'baseUrl' | 'uploadOrigin' | typeof Symbol.asyncDispose>;

function serve(server: Server, port?: number): Promise<RunningServer> {
  server.requestTimeout = 0;
  return listen(server, 'http', port);
}

async function takeUpload(
  host: Core,
  options: HostOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const id = new URL(request.url ?? '/', 'http://host').pathname.split('/')[2] ?? '';
  host.puts.push(id);
  if (request.headers.authorization !== undefined) host.leaks.push(id);
  // A refusal comes before the body was asked for: after it, the end of the connection could overtake the answer.
  const meddled = options.meddleUpload?.(request, response, id) ?? false;
  // An await would let bytes that came with the headers flow before this host reads, if the one that meddles counts them.
  if (meddled === true || (meddled !== false && (await meddled))) return;
  const complete = (sha256: string, size: number): void => {
    const video = host.videos.get(id);
    if (video === undefined) return;
    video.bodies.push(sha256);
    video.size = size;
    advance(video, options);
  };
  if (options.resumable !== undefined) {
    const partial = host.partial.get(id) ?? new PartialBody();
    host.partial.set(id, partial);
    if (host.videos.has(id)) takePart(options.resumable, partial, { request, response }, complete);
    else response.writeHead(404).end();
    return;
  }
  if (request.headers.expect !== undefined) response.writeContinue();
  const hash = createHash('sha256');
  let size = 0;
  request.on('error', () => undefined);
  request.on('data', (part: Buffer) => {
    hash.update(part);
    size += part.length;
  });
  request.on('end', () => {
    const video = host.videos.get(id);
    if (video === undefined || size !== Number(request.headers['content-length'])) {
      response.writeHead(404).end();
      return;
    }
    complete(hash.digest('hex'), size);
    response.writeHead(200).end();
  });
}

function advance(video: HostedVideo, options: HostOptions): void {
  video.status = 'processing';
  setTimeout(() => {
    if (video.status === 'processing') video.status = video.title.includes('cannot be processed') ? 'failed' : 'ready';
  }, options.processingMs?.() ?? 100).unref();
}

const usual = { channels: ['ch_main', 'ch_news'], feeds: ['feed_news', 'feed_missing'] };

async function serveApi(
  host: Core,
  options: HostOptions,
  uploadOrigin: string,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://host');
  const path = url.pathname.replace(/^\/v1/, '');
  const body = await read(request).catch(() => null);
  // The client died in the middle of its request.
  if (body === null) return;
  host.requests.push({ method: request.method ?? '', path, at: performance.now() });
  for (const offence of offencesOf(request, body)) host.offences.add(offence);
  if ((await options.meddle?.(request, response, body)) === true) return;
  const say = (status: number, value: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  const fail = (status: number, code: string): void => say(status, { error: { code, message: `${code} for ${path}` } });
  const wrap = (value: unknown): unknown => (options.wraps === true ? { data: value } : value);
  if (request.headers.authorization !== `Bearer ${host.key}`) return fail(401, 'unauthorized');
  const [, resource, id, action] = path.split('/');
  if (resource === 'feeds' && action === 'publish') {
    host.publishes.push({ feed: id ?? '', at: Date.now() });
    return say(200, { feed_id: id, status: 'published', published_at: new Date().toISOString(), video_count: 1 });
  }
  if (resource === 'channels')
    return say(200, { data: (options.channels?.() ?? usual.channels).map((name) => ({ id: name, name })) });
  if (resource === 'feeds')
    return say(200, {
      data: (options.feeds?.() ?? usual.feeds).map((name) => ({
        id: name,
        name,
        type: 'mrss',
        url: `https://feeds.example.com/${name}.xml`,
      })),
    });
  if (resource !== 'videos') return fail(404, 'not_found');
  if (id === undefined && request.method === 'POST') {
    const video = createVideo(JSON.parse(body.toString()) as Record<string, unknown>);
    host.videos.set(video.id, video);
    if (video.sourceUrl !== null) advance(video, options);
    const session =
      options.resumable === 'content-range' ? `&uploadType=resumable&upload_id=${randomBytes(8).toString('hex')}` : '';
    return say(
      options.wraps === true ? 200 : 201,
      wrap({
        id: video.id,
        ...options.created,
        upload_url: `${uploadOrigin}/put/${video.id}?sig=${randomBytes(8).toString('hex')}${session}`,
        status: 'pending',
      }),
    );
  }
  if (id === undefined) return say(200, page(host, options, url.searchParams));
  const video = host.videos.get(id);
  if (video === undefined) return fail(404, 'not_found');
  if (request.method === 'DELETE') {
    host.videos.delete(id);
    host.deleted.push(id);
    return void response.writeHead(204).end();
  }
  if (request.method === 'PATCH') Object.assign(video, JSON.parse(body.toString()));
  return say(200, wrap(describe(video)));
}

function offencesOf({ method = '', url = '/', headers }: IncomingMessage, body: Buffer): readonly string[] {
  const requestHeaders = new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return checkRequest({ method, url, requestHeaders, requestBody: body.toString() });
}

function createVideo(body: Record<string, unknown>): HostedVideo {
  return {
    id: `vid_${randomBytes(6).toString('hex')}`,
    title: String(body['title']),
    description: typeof body['description'] === 'string' ? body['description'] : null,
    channelId: String(body['channel_id']),
    tags: Array.isArray(body['tags']) ? body['tags'].map(String) : [],
    sourceUrl: typeof body['source_url'] === 'string' ? body['source_url'] : null,
    status: 'pending',
    createdAt: Date.now(),
    bodies: [],
    size: 0,
  };
}

function page(host: Core, options: HostOptions, query: URLSearchParams): unknown {
  const number = Number(query.get('page') ?? 1);
  const perPage = Math.min(100, Number(query.get('per_page') ?? 25));
  const all = [...host.videos.values()];
  const ordered = options.order === 'oldest-first' ? all : all.toReversed();
  return {
    data: ordered.slice((number - 1) * perPage, number * perPage).map(describe),
    meta: { page: number, per_page: perPage, total: all.length },
  };
}

function describe(video: HostedVideo): unknown {
  return {
    id: video.id,
    title: video.title,
    status: video.status,
    duration: 3,
    created_at: new Date(video.createdAt).toISOString(),
    embed_url: `https://player.example.com/${video.id}`,
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
