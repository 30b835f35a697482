import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { readSample, runSandbox, type Json, type RunningSandbox } from '../running-sandbox.ts';
import { standIn, WRITES_PICTURE } from '../media/programs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const NO_FFMPEG = { ffmpegPath: null } as const;
let running: RunningSandbox;
let clip: Buffer;
let video: Json;
let mediaUrl: string;

beforeAll(async () => {
  running = await runSandbox(NO_FFMPEG);
  clip = await readSample('clip.mp4');
  video = await running.upload('clip.mp4');
  mediaUrl = cdn(`videos/${video.id}.mp4`);
});
afterAll(() => running[Symbol.asyncDispose]());

function cdn(path: string): string {
  return `${new URL(running.sandbox.baseUrl).origin}/cdn/${path}`;
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

/** A GET with the path and headers exactly as written; fetch would tidy them up. */
async function send(path: string, headers: Record<string, string> = {}) {
  const request = httpRequest({ host: '127.0.0.1', port: running.sandbox.port, path, headers }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

describe('every sample is served unchanged, with the type and extension of its container', () => {
  test.each([
    ['clip.mp4', 'mp4', 'video/mp4'],
    ['camera.mov', 'mov', 'video/quicktime'],
    ['phone-vertical.mp4', 'mp4', 'video/mp4'],
    ['lecture.mkv', 'mkv', 'video/matroska'],
    ['interview.mp3', 'mp3', 'audio/mpeg'],
    ['broadcast.m2ts', 'm2ts', 'video/mp2t'],
  ])('%s', async (sample, extension, mediaType) => {
    const { id, thumbnail_url } = await running.upload(sample);
    const response = await fetch(cdn(`videos/${id}.${extension}`));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(mediaType);
    expect((await bytesOf(response)).equals(await readSample(sample))).toBe(true);
    expect((await fetch(thumbnail_url)).status).toBe(200);
  });

  test('a failed video has no file and no thumbnail', async () => {
    const { id, thumbnail_url } = await running.upload('truncated.mp4');
    expect(thumbnail_url).toBeNull();
    for (const path of [`videos/${id}.mp4`, `thumbnails/${id}.png`]) expect((await fetch(cdn(path))).status).toBe(404);
  });
});

describe('ranges (RFC 9110 section 14)', () => {
  const size = 65_182;
  test.each([
    ['bytes=0-99', 0, 99],
    ['bytes=100-', 100, size - 1],
    ['bytes=-50', size - 50, size - 1],
    ['bytes=0-0', 0, 0],
    [`bytes=${size - 1}-`, size - 1, size - 1],
    ['bytes=5-9999999', 5, size - 1],
    ['bytes=-9999999', 0, size - 1],
  ])('%s', async (range, first, last) => {
    const response = await fetch(mediaUrl, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${first}-${last}/${size}`);
    expect((await bytesOf(response)).equals(clip.subarray(first, last + 1))).toBe(true);
  });

  test.each([`bytes=${size}-`, 'bytes=9999999-', 'bytes=-0'])('%s is outside: 416 in the error form', async (range) => {
    const response = await fetch(mediaUrl, { headers: { range } });
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toBe(`bytes */${size}`);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({ error: { code: 'range_not_satisfiable' } });
  });

  test.each(['bytes=a-b', 'bytes=9-5', 'lines=0-5', 'bytes=0-9,20-29', ''])(
    'what is no single range gets the whole file: %j',
    async (range) => {
      const response = await fetch(mediaUrl, { headers: { range } });
      expect(response.status === 200 || (range === 'bytes=9-5' && response.status === 416)).toBe(true);
    },
  );

  test('If-Range: a range of the same file only, else the whole', async () => {
    const etag = (await fetch(mediaUrl, { method: 'HEAD' })).headers.get('etag') ?? '';
    const range = 'bytes=0-9';
    expect((await fetch(mediaUrl, { headers: { range, 'if-range': etag } })).status).toBe(206);
    expect((await fetch(mediaUrl, { headers: { range, 'if-range': '"another"' } })).status).toBe(200);
  });
});

describe('headers', () => {
  test('HEAD has the headers of GET, and no body', async () => {
    const ofConnection = new Set(['date', 'connection', 'keep-alive']);
    const [head, get] = await Promise.all([fetch(mediaUrl, { method: 'HEAD' }), fetch(mediaUrl)]);
    const said = ({ headers }: Response) =>
      Object.fromEntries([...headers].filter(([name]) => !ofConnection.has(name)));
    expect(head.status).toBe(200);
    expect(said(head)).toEqual(said(get));
    expect((await bytesOf(head)).length).toBe(0);
    expect(said(get)).toMatchObject({
      'content-length': String(clip.length),
      'accept-ranges': 'bytes',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      etag: `"${createHash('sha256').update(clip).digest('hex')}"`,
      'last-modified': expect.stringMatching(/GMT$/),
    });
    await bytesOf(get);
  });

  test('a client that has the file gets 304', async () => {
    const { headers } = await fetch(mediaUrl, { method: 'HEAD' });
    const etag = headers.get('etag') ?? '';
    const since = headers.get('last-modified') ?? '';
    // Not by fetch, which adds `Cache-Control: no-cache` to conditions, and with it asks for the whole file.
    const ask = (conditions: Record<string, string>) => send(new URL(mediaUrl).pathname, conditions);
    const unchanged = await ask({ 'if-none-match': etag });
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.etag).toBe(etag);
    expect((await ask({ 'if-none-match': '"another"' })).status).toBe(200);
    expect((await ask({ 'if-modified-since': since })).status).toBe(304);
    const changed = await ask({ 'if-match': '"another"' });
    expect(changed.status).toBe(412);
    expect(JSON.parse(changed.body)).toMatchObject({ error: { code: 'precondition_failed' } });
  });

  test('the preflight permits ranges to players on other sites', async () => {
    const response = await fetch(mediaUrl, { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
    expect(response.headers.get('access-control-allow-headers')).toBe('*');
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s is not for files: 405', async (method) => {
    const response = await fetch(mediaUrl, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
  });
});

describe('a missing file is 404 with an error body', () => {
  test.each([
    ['an unknown video', () => 'videos/vid_unknown.mp4'],
    ['another extension', () => `videos/${video.id}.mov`],
    ['no extension', () => `videos/${video.id}`],
    ['an unknown channel', () => 'artwork/ch_unknown.png'],
    ['another kind of picture', () => `thumbnails/${video.id}.jpg`],
    ['the folder', () => 'videos/'],
    ['another folder', () => `media/${video.id}.mp4`],
    ['nothing', () => ''],
  ])('%s', async (_name, path) => {
    const response = await fetch(cdn(path()));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } });
  });

  test.each([
    '/cdn/videos/../../sandbox.db',
    '/cdn/videos/..%2f..%2fsandbox.db',
    '/cdn/videos/%2e%2e/sandbox.db',
    '/cdn/videos/....//sandbox.db',
    '/cdn/videos/%00.mp4',
    '/cdn/videos/VIDEO.mp4%00.mp4',
    '/cdn/videos/VIDEO%252emp4',
    '/cdn/videos/%',
    '/cdn/videos//etc/passwd.mp4',
    '/cdn/videos/..\\sandbox.mp4',
    '/cdn/thumbnails/VIDEO.png/',
    '/cdn/artwork/placeholder.png',
    '/cdn/artwork/..%2fthumbnails%2fVIDEO.png',
    '/cdn//videos/VIDEO.mp4',
  ])('%s', async (path) => {
    expect((await send(path.replace('VIDEO', video.id))).status).toBe(404);
  });

  test('a video is there only when it is ready', async () => {
    await using slow = await runSandbox({ ...NO_FFMPEG, processingMs: { min: 60_000, max: 60_000 } });
    const { id, upload_url } = await slow.create();
    const url = `${new URL(slow.sandbox.baseUrl).origin}/cdn/videos/${id}.mp4`;
    expect((await fetch(url)).status).toBe(404);
    await fetch(upload_url, { method: 'PUT', body: await readSample('clip.mp4') });
    expect((await slow.call('GET', `/videos/${id}`)).body.data.status).toBe('processing');
    expect((await fetch(url)).status).toBe(404);
  });
});

/** What there is of videos in a data folder. */
async function filesOf(folder: string): Promise<string[]> {
  const folders = ['incoming', 'media', 'thumbnails'];
  const names = await Promise.all(folders.map((name) => readdir(join(folder, name))));
  return names.flatMap((inside, index) => inside.map((name) => `${folders[index]}/${name}`));
}

describe('delete', () => {
  test('file and thumbnail are gone at once, from the address and from the disk', async () => {
    await using scripts = await scratchDirectory();
    await using folder = await scratchDirectory();
    const ffmpegPath = await standIn(scripts.path, WRITES_PICTURE);
    await using kept = await runSandbox({ ffmpegPath, dataDir: folder.path });
    const { id, thumbnail_url } = await kept.upload('clip.mp4');
    const url = `${new URL(kept.sandbox.baseUrl).origin}/cdn/videos/${id}.mp4`;
    for (const there of [url, thumbnail_url]) expect((await fetch(there)).status).toBe(200);
    expect(await filesOf(folder.path)).toEqual([`media/${id}`, `thumbnails/${id}.jpg`]);
    expect((await kept.call('DELETE', `/videos/${id}`)).status).toBe(204);
    for (const gone of [url, thumbnail_url]) expect((await fetch(gone)).status).toBe(404);
    expect(await filesOf(folder.path)).toEqual([]);
  });

  test('a thumbnail that is being made then is not kept', async () => {
    await using scripts = await scratchDirectory();
    await using folder = await scratchDirectory();
    const until = join(scripts.path, 'go-on');
    const ffmpegPath = await standIn(scripts.path, `while ! [ -e ${until} ]; do sleep 0.02; done; ${WRITES_PICTURE}`);
    await using kept = await runSandbox({ ffmpegPath, dataDir: folder.path });
    const { id, thumbnail_url } = await kept.upload('clip.mp4');
    const answer = fetch(thumbnail_url);
    await expect.poll(() => readdir(scripts.path), { timeout: 25_000 }).toContain('runs');
    await kept.call('DELETE', `/videos/${id}`);
    await writeFile(until, '');
    expect((await answer).status).toBe(404);
    expect(await filesOf(folder.path)).toEqual([]);
  });

  test('a reading that has begun still ends', async () => {
    const { id } = await running.upload('camera.mov');
    const response = await fetch(cdn(`videos/${id}.mov`));
    await running.call('DELETE', `/videos/${id}`);
    expect((await bytesOf(response)).equals(await readSample('camera.mov'))).toBe(true);
  });
});

describe('pictures', () => {
  test('without ffmpeg a thumbnail is a PNG placeholder', async () => {
    const response = await fetch(video.thumbnail_url);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('x-placeholder')).toBe('true');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const bytes = await bytesOf(response);
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1280, 720]);
  });

  test('a channel has square artwork, and no mark: it is meant to be drawn', async () => {
    const response = await fetch(cdn('artwork/ch_news.png'));
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('x-placeholder')).toBeNull();
    const bytes = await bytesOf(response);
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1400, 1400]);
  });

  test('with ffmpeg both are JPEG', needs('ffmpeg'), async () => {
    await using drawn = await runSandbox();
    const { thumbnail_url } = await drawn.upload('clip.mp4');
    const artwork = thumbnail_url.replace(/thumbnails.*/, 'artwork/ch_news.jpg');
    for (const url of [thumbnail_url, artwork]) {
      const response = await fetch(url);
      expect(response.headers.get('content-type')).toBe('image/jpeg');
      expect(response.headers.get('x-placeholder')).toBeNull();
      expect((await bytesOf(response)).toString('hex', 0, 3)).toBe('ffd8ff');
    }
  });
});
