import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { put, readSample, runSandbox, until, type RunningSandbox } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

let service: RunningSandbox;
let clip: Buffer<ArrayBuffer>;
let folder: Awaited<ReturnType<typeof scratchDirectory>>;
let nowMs = Date.UTC(2026, 0, 1);
beforeAll(async () => {
  clip = await readSample('clip.mp4');
  folder = await scratchDirectory();
  service = await runSandbox({ uploadUrlTtlMs: 60_000, dataDir: folder.path, nowMs: () => (nowMs += 1) });
});
afterAll(async () => {
  await service.sandbox.close();
  await folder[Symbol.asyncDispose]();
});

const statusOf = async (id: string) => (await service.call('GET', `/videos/${id}`)).body.data.status;
const arriving = () => readdir(join(folder.path, 'incoming'));

describe('PUT to upload_url (4.1)', () => {
  test('4.1 stores exactly the bytes, without a key, and answers with their size and SHA-256', async () => {
    const { id, upload_url } = await service.create();
    const sha256 = createHash('sha256').update(clip).digest('hex');
    expect(await put(upload_url, clip)).toMatchObject({
      status: 200,
      body: { id, status: 'processing', size: clip.length, sha256 },
    });
    expect(service.sandbox.files().at(-1)).toEqual({ videoId: id, sizeBytes: clip.length, sha256 });
    expect(await readFile(join(folder.path, 'media', id))).toEqual(clip);
    expect(await arriving()).toEqual([]);
  });

  test('a body of many megabytes arrives whole', async () => {
    const { id, upload_url } = await service.create();
    // Random bytes look like a damaged container now and then.
    const bytes = Buffer.alloc(24 * 1024 * 1024 + 1, 'not a video ');
    expect((await put(upload_url, bytes)).body.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect((await service.ended(id)).error.code).toBe('unsupported_format');
  });

  test('a second PUT after a complete one is 409, and the first file stays', async () => {
    const { id, upload_url } = await service.create();
    await put(upload_url, clip);
    expect(await put(upload_url, randomBytes(10))).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    });
    expect(await service.ended(id)).toMatchObject({ status: 'ready' });
  });

  test('of several PUTs at the same time exactly one wins', async () => {
    const { id, upload_url } = await service.create();
    const answers = await Promise.all(Array.from({ length: 6 }, () => put(upload_url, clip)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409, 409]);
    expect(service.sandbox.files().filter((file) => file.videoId === id)).toHaveLength(1);
    expect(await arriving()).toEqual([]);
  });

  test('a wrong token, the token of another video, no token: 403; an unknown video: 404', async () => {
    const { upload_url: first } = await service.create();
    const { upload_url: second, id } = await service.create();
    const otherToken = first.replace(/[^/]*$/, second.split('/').at(-1) ?? '');
    for (const url of [`${first}x`, otherToken, first.replace(/[^/]*$/, '')])
      expect(await put(url, clip)).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    expect((await put(second.replace(id, 'vid_nothere'), clip)).status).toBe(404);
    expect((await put(`${second}/more`, clip)).status).toBe(404);
    expect(await statusOf(id)).toBe('pending');
  });

  test('an expired address is 403, and the video stays pending', async () => {
    const { id, upload_url } = await service.create();
    nowMs += 60_000;
    expect(await put(upload_url, clip)).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining('expired') } },
    });
    expect(await statusOf(id)).toBe('pending');
  });

  test('other methods are 405; a part and an encoded body are refused', async () => {
    const { id, upload_url } = await service.create();
    for (const method of ['GET', 'POST', 'DELETE']) expect((await fetch(upload_url, { method })).status).toBe(405);
    expect((await fetch(upload_url, { method: 'OPTIONS' })).headers.get('allow')).toBe('PUT, OPTIONS');
    expect((await put(upload_url, clip, { 'content-range': 'bytes 0-9/100' })).status).toBe(400);
    expect((await put(upload_url, clip, { 'content-encoding': 'gzip' })).status).toBe(415);
    expect(await statusOf(id)).toBe('pending');
  });

  test.each(['identity', 'Identity', ''])('a Content-Encoding %j is none', async (encoding) => {
    const { id, upload_url } = await service.create();
    expect((await put(upload_url, clip, { 'content-encoding': encoding })).status).toBe(200);
    expect((await service.ended(id)).status).toBe('ready');
  });

  test('a form around the file is 415 with what to send instead, and the address stays good', async () => {
    const { id, upload_url } = await service.create();
    const form = new FormData();
    form.append('file', new Blob([clip], { type: 'video/mp4' }), 'clip.mp4');
    const wrapped = Buffer.from(await new Response(form).arrayBuffer());
    const hint = { error: { code: 'unsupported_media_type', message: expect.stringContaining('curl -T FILE') } };
    const typed = await fetch(upload_url, { method: 'PUT', body: form });
    expect([typed.status, await typed.json()]).toEqual([415, hint]);
    for (const type of ['Multipart/Form-Data; boundary=x', 'multipart/related'])
      expect(await put(upload_url, clip, { 'content-type': type })).toMatchObject({ status: 415, body: hint });
    for (const type of ['video/mp4', 'application/octet-stream', ''])
      expect(await put(upload_url, wrapped, { 'content-type': type })).toMatchObject({ status: 415, body: hint });
    expect([await statusOf(id), await arriving()]).toEqual(['pending', []]);
    const posted = await fetch(upload_url, { method: 'POST', body: form });
    expect([posted.status, await posted.json()]).toEqual([
      405,
      { error: { code: 'method_not_allowed', message: expect.stringContaining('curl -T FILE') } },
    ]);
    expect((await put(upload_url, clip, { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(200);
    expect((await service.ended(id)).status).toBe('ready');
  });

  test('a body without Content-Length is 411', async () => {
    const { id, upload_url } = await service.create();
    const chunked = request(upload_url, { method: 'PUT' });
    chunked.write('x');
    expect(await answerTo(chunked)).toMatchObject({ status: 411, body: { error: { code: 'length_required' } } });
    chunked.destroy();
    expect(await statusOf(id)).toBe('pending');
  });

  test('an empty body is taken, and fails in processing', async () => {
    const { id, upload_url } = await service.create();
    expect((await put(upload_url, new Uint8Array(0))).status).toBe(200);
    expect((await service.ended(id)).error.code).toBe('empty_file');
  });

  test('a body that is cut leaves the video pending and nothing on disk; the next PUT succeeds', async () => {
    const { id, upload_url } = await service.create();
    const cut = request(upload_url, { method: 'PUT', headers: { 'content-length': clip.length } });
    cut.on('error', () => undefined);
    cut.write(clip.subarray(0, 10_000));
    await until(async () => ((await arriving()).length === 1 ? true : undefined));
    cut.destroy();
    await until(async () => ((await arriving()).length === 0 ? true : undefined));
    expect(await statusOf(id)).toBe('pending');
    expect((await put(upload_url, clip)).status).toBe(200);
  });

  test('a video deleted during its upload takes no file', async () => {
    const { id, upload_url } = await service.create();
    const upload = request(upload_url, { method: 'PUT', headers: { 'content-length': clip.length } });
    upload.write(clip.subarray(0, 10_000));
    await until(async () => ((await arriving()).length === 1 ? true : undefined));
    await service.call('DELETE', `/videos/${id}`);
    upload.end(clip.subarray(10_000));
    expect(await answerTo(upload)).toMatchObject({ status: 410 });
    expect(await readdir(join(folder.path, 'media'))).not.toContain(id);
    expect(await arriving()).toEqual([]);
  });

  test('the journal does not show the token', async () => {
    const { id, upload_url } = await service.create();
    await put(upload_url, clip);
    expect(service.sandbox.requests().at(-1)).toMatchObject({
      operation: 'uploads.put',
      method: 'PUT',
      path: `/uploads/${id}/[token]`,
      status: 200,
    });
  });
});

describe('Expect: 100-continue', () => {
  const asking = (url: string) =>
    request(url, { method: 'PUT', headers: { 'content-length': clip.length, expect: '100-continue' } });

  test('is answered before the body, which is then taken', async () => {
    const { id, upload_url } = await service.create();
    const upload = asking(upload_url);
    upload.on('continue', () => upload.end(clip));
    upload.flushHeaders();
    expect(await answerTo(upload)).toMatchObject({ status: 200 });
    expect((await service.ended(id)).status).toBe('ready');
  });

  test.each([
    ['a wrong token', 403, async () => `${(await service.create()).upload_url}x`],
    ['an unknown video', 404, async () => (await service.create()).upload_url.replace(/vid_[^/]+/, 'vid_nothere')],
    ['a complete video', 409, async () => completed()],
    ['a deleted video', 410, async () => deleted()],
  ])('for %s the refusal %i comes without a byte of the body', async (_what, status, addressOf) => {
    const upload = asking(await addressOf());
    let isAskedForBody = false;
    upload.on('continue', () => (isAskedForBody = true));
    upload.flushHeaders();
    expect(await answerTo(upload)).toMatchObject({ status, body: { error: {} } });
    expect(isAskedForBody).toBe(false);
    upload.destroy();
  });

  async function completed(): Promise<string> {
    const { upload_url } = await service.create();
    await put(upload_url, clip);
    return upload_url;
  }

  async function deleted(): Promise<string> {
    const { id, upload_url } = await service.create();
    await service.call('DELETE', `/videos/${id}`);
    return upload_url;
  }
});

test('a refusal without Expect reaches a client that is still sending', async () => {
  const { upload_url } = await service.create();
  const bytes = Buffer.alloc(8 * 1024 * 1024);
  expect((await put(`${upload_url}x`, bytes)).status).toBe(403);
});

test('a client that keeps sending after a refusal is disconnected', async () => {
  const { upload_url } = await service.create();
  const stubborn = request(`${upload_url}x`, { method: 'PUT', headers: { 'content-length': 1e12 } });
  const cut = new Promise<void>((resolve) => stubborn.on('close', resolve).on('error', () => resolve()));
  const sending = setInterval(() => stubborn.write(Buffer.alloc(1000)), 20);
  expect(await answerTo(stubborn)).toMatchObject({ status: 403 });
  await cut;
  clearInterval(sending);
});

test('with a separate upload origin each port serves its own side only', async () => {
  await using separate = await runSandbox({ uploadOrigin: 'separate' });
  const { id, upload_url } = await separate.create();
  expect(new URL(upload_url).origin).toBe(separate.sandbox.uploadOrigin);
  expect(new URL(upload_url).port).not.toBe(String(separate.sandbox.port));
  expect((await fetch(`${separate.sandbox.uploadOrigin}/v1/videos`)).status).toBe(404);
  expect((await put(new URL(new URL(upload_url).pathname, separate.sandbox.baseUrl).href, clip)).status).toBe(404);
  expect((await put(upload_url, clip)).status).toBe(200);
  expect((await separate.ended(id)).status).toBe('ready');
});

function answerTo(sent: ReturnType<typeof request>): Promise<{ status: number | undefined; body: unknown }> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response: IncomingMessage) => {
      json(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    });
  });
}
