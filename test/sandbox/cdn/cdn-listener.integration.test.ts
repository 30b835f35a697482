import { once } from 'node:events';
import { truncate, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createCdnListener, type FinishedRead } from '../../../packages/sandbox/src/cdn/cdn-listener.ts';
import { MediaFiles } from '../../../packages/sandbox/src/store/media-files.ts';
import { Pictures } from '../../../packages/sandbox/src/media/pictures.ts';
import { openRecords } from '../../../packages/sandbox/src/store/records.ts';
import { playable } from '../playable.ts';
import { until } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { startServer } from '../../support/server.ts';

const SIZE = 5_000_000;

/** The listener alone on a port, with one ready video of 5 MB, and what it reports. */
async function serving() {
  await using cleanup = new AsyncDisposableStack();
  const folder = cleanup.use(await scratchDirectory());
  const mediaFiles = new MediaFiles(folder.path);
  await mediaFiles.open(() => true);
  const records = openRecords(':memory:');
  cleanup.defer(() => records.database.close());
  const { videos, processing, channels } = records;
  channels.add({ id: 'ch', name: 'C', slug: 'c', createdAtMs: 0 });
  const fields = { title: 'T', description: null, channelId: 'ch', tags: [], sourceUrl: null, createdAtMs: 0 };
  videos.create(fields, () => 'vid');
  processing.startProcessing({ videoId: 'vid', sizeBytes: SIZE, sha256: 'x' }, playable, { nowMs: 0, dueAtMs: 0 });
  processing.finishDue(0);
  await writeFile(mediaFiles.pathOf('vid'), '');
  await truncate(mediaFiles.pathOf('vid'), SIZE);
  const reads: FinishedRead[] = [];
  const defects: unknown[] = [];
  const pictures = cleanup.use(new Pictures(mediaFiles, null));
  const listener = createCdnListener({
    records,
    mediaFiles,
    pictures,
    lifecycle: { advance: () => undefined },
    onRead: (read) => reads.push(read),
    onDefect: (error) => defects.push(error),
  });
  const server = cleanup.use(await startServer((request, response) => void listener(request, response, false)));
  const resources = cleanup.move();
  return {
    url: `${server.origin}/cdn/videos/vid.mp4`,
    reads,
    defects,
    mediaFiles,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

test('reports each finished read once, with client and bytes; not HEAD, 304 and refusals', async () => {
  await using served = await serving();
  const headers = { 'user-agent': 'Podcasts/1.0' };
  await (await fetch(`${served.url}?via=feed`, { headers })).bytes();
  await (await fetch(served.url, { headers: { ...headers, range: 'bytes=1000-1999' } })).bytes();
  await fetch(served.url, { headers, method: 'HEAD' });
  expect(await statusOf(served.url, { ...headers, 'if-none-match': '"x"' })).toBe(304);
  await (await fetch(served.url, { headers: { ...headers, range: `bytes=${SIZE}-` } })).bytes();
  await (await fetch(served.url, { headers: { ...headers, range: 'bytes=-5' } })).bytes();
  await until(() => (served.reads.length >= 3 ? true : undefined));
  const client = { videoId: 'vid', remoteAddress: '127.0.0.1', userAgent: 'Podcasts/1.0' };
  const target = '/cdn/videos/vid.mp4';
  expect(served.reads).toEqual([
    { ...client, target: `${target}?via=feed`, start: 0, bytesSent: SIZE, isRange: false },
    { ...client, target, start: 1000, bytesSent: 1000, isRange: true },
    { ...client, target, start: SIZE - 5, bytesSent: 5, isRange: true },
  ]);
  expect(served.defects).toEqual([]);
});

/** Not by fetch, which adds `Cache-Control: no-cache` to conditions, and with it asks for the whole file. */
async function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const [response] = (await once(httpRequest(url, { headers }).end(), 'response')) as [IncomingMessage];
  return response.resume().statusCode;
}

test('a disconnected client counts only the bytes it received', async () => {
  await using served = await serving();
  const request = httpRequest(served.url).end();
  const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream];
  await once(response, 'data');
  request.destroy();
  const read = await until(() => served.reads[0]);
  expect(read.bytesSent).toBeGreaterThan(0);
  expect(read.bytesSent).toBeLessThan(SIZE);
  expect(served.defects).toEqual([]);
});

test('a file that is missing behind its record is 404', async () => {
  await using served = await serving();
  await served.mediaFiles.remove('vid');
  const response = await fetch(served.url);
  expect(response.status).toBe(404);
  expect(response.headers.get('etag')).toBeNull();
  expect(await response.json()).toEqual({ error: { code: 'not_found', message: 'There is no such file.' } });
});
