import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { put, readSample, runSandbox, until } from '../running-sandbox.ts';
import { standIn } from '../media/programs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { startServer } from '../../support/server.ts';
import { admin } from './admin-side.ts';

test('everything is as it was right after the start: records, files, keys, clock, limit, faults, journal and ids', async () => {
  await using folder = await scratchDirectory();
  const nowMs = Date.UTC(2026, 0, 1);
  await using service = await runSandbox({ dataDir: folder.path, nowMs: () => nowMs, requestsPerHour: 50 });
  const recordsNow = async () => (await admin(service, 'GET /export')).body;
  const atStart = await recordsNow();
  const video = await service.create();
  await put(video.upload_url, await readSample('clip.mp4'));
  await admin(service, 'POST /clock/advance', { by: '1h' });
  await service.ended(video.id);
  await service.call('PATCH', '/channels/ch_main', { name: 'Changed' });
  await service.call('POST', '/feeds/feed_main/publish');
  await admin(service, 'POST /keys', { name: 'more' });
  await admin(service, 'DELETE /keys/key_1');
  await admin(service, 'PUT /clock', { frozen: true });
  await admin(service, 'PUT /rate-limit', { requests_per_hour: 1 });
  await admin(service, 'POST /faults', { operation: '*', kind: 'status', status: 500 });

  expect((await admin(service, 'POST /reset')).status).toBe(204);
  expect(await recordsNow()).toEqual(atStart);
  expect((await admin(service, 'GET /state')).body.data).toMatchObject({
    clock: { now: '2026-01-01T00:00:00.000Z', frozen: false },
    limits: { requests_per_hour: 50 },
    counts: { videos: { total: 0 }, keys: 1, revoked_keys: 0, faults: 0, requests: 0 },
  });
  for (const name of ['media', 'thumbnails'] as const) expect(await storedIn(folder.path, name)).toEqual([]);
  expect(await readdir(join(folder.path, 'incoming'))).toEqual([]);
  expect((await service.create()).id).toBe(video.id);
});

test('an upload in progress does not restore its video, nor fill a new one with the same id', async () => {
  await using service = await runSandbox();
  const { id, upload_url: url } = await service.create();
  const bytes = await readSample('clip.mp4');
  let finish = (): void => undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(bytes.subarray(0, 1000));
      finish = () => {
        controller.enqueue(bytes.subarray(1000));
        controller.close();
      };
    },
  });
  const headers = { 'content-length': String(bytes.length) };
  const upload = fetch(url, { method: 'PUT', headers, body, duplex: 'half' });
  await until(() => (service.sandbox.requests().some(({ method }) => method === 'PUT') ? true : undefined));
  await admin(service, 'POST /reset');
  const second = await service.create();
  expect(second.id).toBe(id);
  finish();
  expect((await upload).status).toBe(410);
  expect((await service.call('GET', `/videos/${id}`)).body.data.status).toBe('pending');
  expect(service.sandbox.files()).toEqual([]);
  expect((await put(url, bytes)).status).toBe(403);
  expect((await put(second.upload_url, bytes)).status).toBe(200);
});

test('aborts an import in progress; a new video with the same id is not affected', async () => {
  const waiting: ServerResponse[] = [];
  await using origin = await startServer((_request, response) => waiting.push(response));
  await using folder = await scratchDirectory();
  await using service = await runSandbox({ dataDir: folder.path });
  const source_url = `${origin.origin}/clip.mp4`;
  const { id } = await service.create({ source_url });
  const response = await until(() => waiting[0]);
  const isClosed = once(response, 'close');
  response.write((await readSample('clip.mp4')).subarray(0, 20_000));
  await until(async () => ((await readdir(join(folder.path, 'incoming'))).length === 1 ? true : undefined));
  await admin(service, 'POST /reset');
  expect((await service.create()).id).toBe(id);
  await isClosed;
  await until(async () => ((await readdir(join(folder.path, 'incoming'))).length === 0 ? true : undefined));
  expect((await service.call('GET', `/videos/${id}`)).body.data.status).toBe('pending');
});

test('resets at the same time, with uploads and creates between them, leave whole records', async () => {
  await using folder = await scratchDirectory();
  await using service = await runSandbox({ dataDir: folder.path, requestsPerHour: 100_000 });
  const bytes = await readSample('interview.mp3');
  const work = Array.from({ length: 24 }, async (_, index) => {
    if (index % 6 === 5) return (await admin(service, 'POST /reset')).status;
    const { status, body } = await service.call('POST', '/videos', { title: 'T', channel_id: 'ch_news' });
    return status === 201 ? (await put(body.upload_url, bytes)).status : status;
  });
  for (const status of await Promise.all(work)) expect([200, 204, 403, 404, 409, 410]).toContain(status);
  const known = service.sandbox.files().map(({ videoId }) => videoId);
  expect((await storedIn(folder.path, 'media')).toSorted()).toEqual(known.toSorted());
  expect(existsSync(join(folder.path, 'incoming'))).toBe(true);
});

test('a picture in progress is not used for a new video with the same id', async () => {
  await using folder = await scratchDirectory();
  const ffmpegPath = join(folder.path, 'slow-ffmpeg');
  const go = join(folder.path, 'go');
  await writeFile(
    ffmpegPath,
    `#!/bin/sh\nfor to; do :; done\nwhile [ ! -e '${go}' ]; do sleep 0.02; done\necho old > "\${to#file:}"\n`,
    {
      mode: 0o700,
    },
  );
  const dataDir = join(folder.path, 'data');
  await using service = await runSandbox({ dataDir, ffmpegPath });
  const { id, thumbnail_url: url } = await service.upload('clip.mp4');
  const asked = fetch(url);
  await until(() => (service.sandbox.requests().some(({ path }) => path.startsWith('/cdn/')) ? true : undefined));
  await admin(service, 'POST /reset');
  expect((await service.upload('camera.mov')).id).toBe(id);
  await writeFile(go, '');
  await asked;
  expect(await storedIn(dataDir, 'thumbnails')).toEqual([]);
});

test('a picture in progress removes no file of a new video with the same id', async () => {
  await using folder = await scratchDirectory();
  const go = join(folder.path, 'go');
  const ffmpegPath = await standIn(folder.path, `while [ ! -e '${go}' ]; do sleep 0.02; done`);
  const dataDir = join(folder.path, 'data');
  await using service = await runSandbox({ dataDir, ffmpegPath });
  const { id, thumbnail_url: url } = await service.upload('clip.mp4');
  const asked = fetch(url);
  await until(() => (service.sandbox.requests().some(({ path }) => path.startsWith('/cdn/')) ? true : undefined));
  await admin(service, 'POST /reset');
  await admin(service, 'POST /faults', { kind: 'stuck_processing' });
  const again = await service.create();
  await put(again.upload_url, await readSample('camera.mov'));
  expect([again.id, (await service.call('GET', `/videos/${id}`)).body.data.status]).toEqual([id, 'processing']);
  await writeFile(go, '');
  expect((await asked).status).toBe(404);
  expect(await storedIn(dataDir, 'media')).toEqual([id]);
});

test('a webhook in progress is not recorded for a new delivery with the same id', async () => {
  const waiting: ServerResponse[] = [];
  await using receiver = await startServer((_request, response) => waiting.push(response));
  await using service = await runSandbox();
  const url = `${receiver.origin}/`;
  const ready = async () => {
    await admin(service, 'POST /webhooks', { url, events: ['video.ready'] });
    return service.upload('interview.mp3');
  };
  await ready();
  const first = await until(() => waiting[0]);
  await admin(service, 'POST /reset');
  await ready();
  first.end();
  const second = await until(() => waiting[1]);
  second.end();
});

/** What is in one of the folders of the era that counts. */
async function storedIn(dataDir: string, name: 'media' | 'thumbnails'): Promise<string[]> {
  const era = (await readdir(dataDir)).find((entry) => entry.startsWith('era-')) ?? '';
  return readdir(join(dataDir, era, name));
}
