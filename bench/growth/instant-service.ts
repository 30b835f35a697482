import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A service that costs its client nothing: it keeps no body, and a video is ready with its last byte. It runs in a
 * process of its own, so that its work is not counted as dropcast's.
 */
const videos: { readonly id: string; status: 'pending' | 'ready' }[] = [];
let published = 0;

const uploads = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const video = videos[Number(request.url?.split('/')[2])];
    if (video !== undefined) video.status = 'ready';
    response.writeHead(200).end();
  });
});
uploads.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
  response.writeContinue();
  uploads.emit('request', request, response);
});

const api = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const [status, value] = answerTo(request.method ?? '', new URL(request.url ?? '/', 'http://service'));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  });
});

const [apiPort, uploadPort] = [await listen(api), await listen(uploads)];
process.send?.({ baseUrl: `http://127.0.0.1:${apiPort}/v1` });
process.on('message', () =>
  process.send?.({ ready: videos.filter(({ status }) => status === 'ready').length, published }),
);

function answerTo(method: string, { pathname, searchParams }: URL): readonly [status: number, body: unknown] {
  const [, , resource, id] = pathname.split('/');
  if (resource === 'refused') return [401, { error: { code: 'unauthorized', message: 'The key is not known.' } }];
  if (resource === 'feeds') {
    published = videos.length;
    return [200, { feed_id: id, status: 'published', published_at: new Date().toISOString(), video_count: published }];
  }
  if (method === 'POST') {
    const number = videos.push({ id: `vid_${videos.length}`, status: 'pending' }) - 1;
    const upload_url = `http://127.0.0.1:${uploadPort}/put/${number}`;
    return [201, { id: `vid_${number}`, upload_url, status: 'pending' }];
  }
  if (id !== undefined) return [200, { data: described(Number(id.slice('vid_'.length))) }];
  return [200, page(Number(searchParams.get('page') ?? 1), Number(searchParams.get('per_page') ?? 100))];
}

/** Newest first. */
function page(number: number, perPage: number): unknown {
  const first = videos.length - 1 - (number - 1) * perPage;
  const data = Array.from({ length: Math.max(0, Math.min(perPage, first + 1)) }, (_, n) => described(first - n));
  return { data, meta: { page: number, per_page: perPage, total: videos.length } };
}

function described(number: number): unknown {
  const video = videos[number];
  const created_at = new Date(1_700_000_000_000 + number).toISOString();
  return { id: video?.id, title: 'A video', status: video?.status, channel_id: 'ch_main', created_at };
}

async function listen(server: Server): Promise<number> {
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
