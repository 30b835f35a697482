import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Noted {
  readonly id: string;
  readonly title: string;
  /** When the create request came, by `performance.now()`. */
  readonly createdAt: number;
  receivedBytes: number;
  status: 'pending' | 'ready';
}

/** A service that keeps no body and has a video ready with its last byte. It notes when what came. */
export interface NotingService extends AsyncDisposable {
  readonly baseUrl: string;
  /** By title. */
  readonly videos: ReadonlyMap<string, Noted>;
}

export async function startNotingService(): Promise<NotingService> {
  const videos = new Map<string, Noted>();
  const byId = new Map<string, Noted>();
  const uploads = createServer((request, response) => {
    const video = byId.get(request.url?.slice(1) ?? '');
    request.on('data', (part: Buffer) => {
      if (video !== undefined) video.receivedBytes += part.length;
    });
    request.on('end', () => {
      if (video !== undefined) video.status = 'ready';
      response.writeHead(200).end();
    });
  });
  const uploadOrigin = await listen(uploads);
  const api = createServer((request, response) => {
    const at = performance.now();
    void bodyOf(request).then((body) => {
      const [, , resource = '', id = ''] = (request.url ?? '').split(/[/?]/u);
      if (request.method === 'POST' && resource === 'videos') {
        const { title } = JSON.parse(body) as { readonly title: string };
        const video: Noted = { id: `vid_${byId.size}`, title, createdAt: at, receivedBytes: 0, status: 'pending' };
        videos.set(title, video);
        byId.set(video.id, video);
        answer(response, { ...shown(video), upload_url: `${uploadOrigin}/${video.id}` }, 201);
      } else if (resource === 'videos' && id.startsWith('vid_')) answer(response, shown(byId.get(id)));
      else if (resource === 'videos') {
        const newest = [...byId.values()].toReversed().slice(0, 100).map(shown);
        answer(response, newest, 200, { page: 1, per_page: 100, total: byId.size });
      } else answer(response, {});
    });
  });
  const origin = await listen(api);
  return {
    baseUrl: `${origin}/v1`,
    videos,
    [Symbol.asyncDispose]: async () => {
      for (const server of [uploads, api]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

function shown(video: Noted | undefined) {
  const { id = '', title = '', status = 'pending' } = video ?? {};
  return { id, title, status, channel_id: 'ch_main', tags: [], created_at: new Date().toISOString() };
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
