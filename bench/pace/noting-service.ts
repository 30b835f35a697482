import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Noted } from './noted.ts';

/*
 * A service that keeps no body, has a video ready with its last byte, and lists the newest first. It notes when what came, and tells it at `/noted`. A process of
 * its own: its work must not delay the benchmark that measures, nor be delayed by it.
 */
const perPage = 100;
const videos: (Noted & { readonly id: string })[] = [];

const uploads = createServer((request, response) => {
  const video = byId(request.url?.slice(1));
  request.on('data', (part: Buffer) => {
    if (video !== undefined) video.receivedBytes += part.length;
  });
  request.on('end', () => {
    if (video !== undefined) video.status = 'ready';
    response.writeHead(200).end();
  });
});

const api = createServer((request, response) => {
  const atMs = performance.timeOrigin + performance.now();
  void bodyOf(request).then((body) => {
    const [, root, resource = '', id] = (request.url ?? '').split(/[/?]/u);
    if (root === 'noted') answer(response, videos);
    else if (resource !== 'videos') answer(response, {});
    else if (request.method === 'POST') {
      const { title } = JSON.parse(body) as { readonly title: string };
      const video = {
        id: `vid_${videos.length}`,
        title,
        createdAtMs: atMs,
        receivedBytes: 0,
        status: 'pending' as const,
      };
      videos.push(video);
      answer(response, { ...shown(video), upload_url: `${uploadOrigin}/${video.id}` }, 201);
    } else if (id?.startsWith('vid_') === true) answer(response, shown(byId(id)));
    else {
      const page = Number(new URL(request.url ?? '', origin).searchParams.get('page') ?? 1);
      const end = videos.length - (page - 1) * perPage;
      const newest = videos
        .slice(Math.max(0, end - perPage), Math.max(0, end))
        .toReversed()
        .map(shown);
      answer(response, newest, 200, { page, per_page: perPage, total: videos.length });
    }
  });
});

const [uploadOrigin, origin] = [await listen(uploads), await listen(api)];
process.send?.({ origin });

function byId(id: string | undefined): (typeof videos)[number] | undefined {
  return videos[Number(id?.slice('vid_'.length))];
}

function shown(video: (typeof videos)[number] | undefined) {
  const { id = '', title = '', status = 'pending', createdAtMs = 0 } = video ?? {};
  return { id, title, status, channel_id: 'ch_main', tags: [], created_at: new Date(createdAtMs).toISOString() };
}

function answer(response: ServerResponse, data: unknown, status = 200, meta?: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ data, ...(meta !== undefined && { meta }) }));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
