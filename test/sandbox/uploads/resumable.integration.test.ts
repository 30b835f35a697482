import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { content } from '../../client/bytes.ts';
import { readSample, runSandbox, until, type RunningSandbox } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

let clip: Buffer<ArrayBuffer>;
let folder: Awaited<ReturnType<typeof scratchDirectory>>;
let session: RunningSandbox;
let tus: RunningSandbox;
beforeAll(async () => {
  clip = await readSample('clip.mp4');
  folder = await scratchDirectory();
  session = await runSandbox({ profile: 'resumable-sessions', dataDir: folder.file('session') });
  tus = await runSandbox({ profile: 'tus', dataDir: folder.file('tus') });
});
afterAll(async () => {
  await session.sandbox.close();
  await tus.sandbox.close();
  await folder[Symbol.asyncDispose]();
});

interface Said {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Headers = Readonly<Record<string, string | number>>;

const patchHeaders = (offset: number): Headers => ({
  'tus-resumable': '1.0.0',
  'content-type': 'application/offset+octet-stream',
  'upload-offset': offset,
});
const ranged = (first: number, last: number, size: number | string = clip.length): Headers => ({
  'content-range': `bytes ${first}-${last}/${size}`,
});

/** A request whose body the test sends piece by piece. */
function open(method: string, url: string, headers: Headers): { sent: ClientRequest; said: Promise<Said> } {
  const sent = request(url, { method, headers, agent: false });
  const said = new Promise<Said>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }), reject);
    });
  });
  said.catch(() => {});
  return { sent, said };
}

function send(method: string, url: string, body: Buffer, headers: Headers = {}): Promise<Said> {
  const { sent, said } = open(method, url, { 'content-length': body.length, ...headers });
  sent.end(body);
  return said;
}

const ask = (url: string, size = clip.length) =>
  send('PUT', url, Buffer.alloc(0), { 'content-range': `bytes */${size}` });
const head = (url: string) => send('HEAD', url, Buffer.alloc(0), { 'tus-resumable': '1.0.0' });
const stored = ({ sandbox }: RunningSandbox, id: string) => sandbox.files().find(({ videoId }) => videoId === id);
const whole = () => createHash('sha256').update(clip).digest('hex');

/** Sends a part of the file and breaks the connection once the sandbox has all of the part. */
async function breakAfter(method: string, url: string, part: Buffer, headers: Headers, data: string): Promise<void> {
  const before = await bytesIn(data);
  const { sent } = open(method, url, { 'content-length': clip.length, ...headers });
  sent.write(part);
  await until(async () => (await bytesIn(data)) === before + part.length);
  sent.destroy();
}

async function bytesIn(data: string): Promise<number> {
  const incoming = folder.file(data, 'incoming');
  const names = await readdir(incoming);
  const sizes = await Promise.all(names.map(async (name) => (await readFile(join(incoming, name))).length));
  return sizes.reduce((all, size) => all + size, 0);
}

describe('a resumable session', () => {
  test('has an address that shows it', async () => {
    const { upload_url } = await session.create();
    expect(upload_url).toMatch(/\?uploadType=resumable&upload_id=[0-9a-f]{32}$/);
  });

  test('takes a whole file in one PUT', async () => {
    const { id, upload_url } = await session.create();
    expect((await send('PUT', upload_url, clip)).status).toBe(200);
    expect(stored(session, id)).toMatchObject({ sha256: whole() });
  });

  test('says what it has after a break, and takes the rest', async () => {
    const { id, upload_url } = await session.create();
    expect(await ask(upload_url)).toMatchObject({ status: 308, headers: { 'content-length': '0' } });
    await breakAfter('PUT', upload_url, clip.subarray(0, 1000), {}, 'session');
    const { status, headers } = await ask(upload_url);
    expect([status, headers.range]).toEqual([308, 'bytes=0-999']);
    const rest = await send('PUT', upload_url, clip.subarray(1000), ranged(1000, clip.length - 1));
    expect(rest.status).toBe(200);
    expect(stored(session, id)).toMatchObject({ sizeBytes: clip.length, sha256: whole() });
    expect((await ask(upload_url)).status).toBe(200);
    expect((await send('PUT', upload_url, clip)).status).toBe(409);
  });

  test('skips bytes that it has, and keeps the old ones', async () => {
    const { id, upload_url } = await session.create();
    await send('PUT', upload_url, clip.subarray(0, 1000), ranged(0, 999));
    const overlapping = Buffer.concat([Buffer.alloc(600, 'x'), clip.subarray(1000)]);
    expect((await send('PUT', upload_url, overlapping, ranged(400, clip.length - 1))).status).toBe(200);
    expect(stored(session, id)).toMatchObject({ sha256: whole() });
  });

  test('skips bytes that it has in a body of many pieces', async () => {
    const { id, upload_url } = await session.create();
    const bytes = content(3 * 1024 * 1024);
    await send('PUT', upload_url, bytes.subarray(0, 1_000_000), ranged(0, 999_999, bytes.length));
    expect((await send('PUT', upload_url, bytes)).status).toBe(200);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(stored(session, id)).toMatchObject({ sizeBytes: bytes.length, sha256 });
  });

  test('takes a part that lies within what it has', async () => {
    const { upload_url } = await session.create();
    await send('PUT', upload_url, clip.subarray(0, 1000), ranged(0, 999));
    const { status, headers } = await send('PUT', upload_url, clip.subarray(100, 200), ranged(100, 199));
    expect([status, headers.range]).toEqual([308, 'bytes=0-999']);
  });

  test('refuses a gap', async () => {
    const { upload_url } = await session.create();
    await send('PUT', upload_url, clip.subarray(0, 1000), ranged(0, 999));
    expect((await send('PUT', upload_url, clip.subarray(1001), ranged(1001, clip.length - 1))).status).toBe(409);
    expect((await ask(upload_url)).headers.range).toBe('bytes=0-999');
  });

  test.each([
    'bytes 0-9/*',
    'bytes 0-10/100',
    'bytes 0-8/100',
    'bytes 91-100/100',
    'bytes 9-0/100',
    'bytes 0-9/9',
    'bytes -1-8/100',
    'bytes */100',
    'bytes 0-9/9999999999999999999',
    'items 0-9/100',
    'bytes=0-9/100',
    '',
  ])('refuses ten bytes with Content-Range: %j', async (range) => {
    const { upload_url } = await session.create();
    expect((await send('PUT', upload_url, Buffer.alloc(10), { 'content-range': range })).status).toBe(400);
    expect((await ask(upload_url)).headers.range).toBeUndefined();
  });

  test('refuses a file that has another size than before', async () => {
    const { upload_url } = await session.create();
    await send('PUT', upload_url, clip.subarray(0, 10), ranged(0, 9));
    const other = await send('PUT', upload_url, clip.subarray(10, 20), ranged(10, 19, clip.length + 1));
    expect(other.status).toBe(400);
  });

  test('refuses a body without a length', async () => {
    const { upload_url } = await session.create();
    const { sent, said } = open('PUT', upload_url, { 'transfer-encoding': 'chunked' });
    sent.end('abc');
    expect((await said).status).toBe(411);
  });

  test('of several requests at the same time the last one counts, and the file is whole', async () => {
    const { id, upload_url } = await session.create();
    await breakAfter('PUT', upload_url, clip.subarray(0, 500), {}, 'session');
    const slow = open('PUT', upload_url, { 'content-length': clip.length - 500, ...ranged(500, clip.length - 1) });
    const before = await bytesIn('session');
    slow.sent.write(clip.subarray(500, 900));
    await until(async () => (await bytesIn('session')) === before + 400);
    const others = [0, 1, 2, 3].map(() =>
      send('PUT', upload_url, clip).then(
        ({ status }) => status,
        () => 'broken',
      ),
    );
    await expect(slow.said).rejects.toThrow();
    await Promise.all(others);
    expect(stored(session, id)).toMatchObject({ sizeBytes: clip.length, sha256: whole() });
  });

  test('forgets what arrived when everything is reset', async () => {
    await session.sandbox.reset();
    const before = await session.create();
    await send('PUT', before.upload_url, clip.subarray(0, 1000), ranged(0, 999));
    await session.sandbox.reset();
    const again = await session.create();
    // The seed gives the same ids again.
    expect(again.id).toBe(before.id);
    expect((await ask(again.upload_url)).headers.range).toBeUndefined();
    expect((await send('PUT', again.upload_url, clip)).status).toBe(200);
    expect(stored(session, again.id)).toMatchObject({ sha256: whole() });
  });
});

describe('a host of tus', () => {
  test('refuses a PUT, and names its version', async () => {
    const { upload_url } = await tus.create();
    const { status, headers } = await send('PUT', upload_url, clip);
    expect([status, headers['tus-resumable']]).toEqual([405, '1.0.0']);
    expect(headers.allow).toContain('PATCH');
  });

  test('says what it has after a break, and takes the rest', async () => {
    const { id, upload_url } = await tus.create();
    expect((await head(upload_url)).headers).toMatchObject({
      'tus-resumable': '1.0.0',
      'upload-offset': '0',
      'upload-defer-length': '1',
      'cache-control': 'no-store',
    });
    const length = { 'upload-length': clip.length };
    await breakAfter('PATCH', upload_url, clip.subarray(0, 1000), { ...patchHeaders(0), ...length }, 'tus');
    expect((await head(upload_url)).headers).toMatchObject({
      'upload-offset': '1000',
      'upload-length': String(clip.length),
    });
    const rest = await send('PATCH', upload_url, clip.subarray(1000), patchHeaders(1000));
    expect([rest.status, rest.headers['upload-offset']]).toEqual([204, String(clip.length)]);
    expect(stored(tus, id)).toMatchObject({ sizeBytes: clip.length, sha256: whole() });
    expect((await head(upload_url)).headers).toMatchObject({ 'upload-offset': String(clip.length) });
    expect((await send('PATCH', upload_url, Buffer.alloc(0), patchHeaders(clip.length))).status).toBe(409);
  });

  test.each([0, 5, 11])('refuses bytes at %i if ten have arrived', async (offset) => {
    const { upload_url } = await tus.create();
    const length = { 'upload-length': clip.length };
    await send('PATCH', upload_url, clip.subarray(0, 10), { ...patchHeaders(0), ...length });
    const { status, headers } = await send(
      'PATCH',
      upload_url,
      clip.subarray(offset, offset + 9),
      patchHeaders(offset),
    );
    expect([status, headers['tus-resumable']]).toEqual([409, '1.0.0']);
    expect((await head(upload_url)).headers['upload-offset']).toBe('10');
  });

  test('refuses more bytes than the file has', async () => {
    const { upload_url } = await tus.create();
    const headers = { ...patchHeaders(0), 'upload-length': 9 };
    expect((await send('PATCH', upload_url, Buffer.alloc(10), headers)).status).toBe(413);
    expect((await head(upload_url)).headers['upload-offset']).toBe('0');
  });

  test.each<[string, Headers, number]>([
    ['no version', { 'tus-resumable': '' }, 412],
    ['another version', { 'tus-resumable': '0.2.2' }, 412],
    ['another type', { 'content-type': 'video/mp4' }, 415],
    ['no offset', { 'upload-offset': '' }, 400],
    ['an offset that is no number', { 'upload-offset': '0x0' }, 400],
    ['a negative offset', { 'upload-offset': '-1' }, 400],
  ])('refuses %s, and names its version', async (_, headers, expected) => {
    const { upload_url } = await tus.create();
    const said = await send('PATCH', upload_url, Buffer.alloc(10), { ...patchHeaders(0), ...headers });
    expect([said.status, said.headers['tus-resumable']]).toEqual([expected, '1.0.0']);
  });

  test('names its version even for an address that does not exist', async () => {
    const { upload_url } = await tus.create();
    const { status, headers } = await head(upload_url.replace(/[^/]+$/, 'other'));
    expect([status, headers['tus-resumable']]).toEqual([403, '1.0.0']);
  });
});
