import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

import { createVideoClient } from '../../packages/client/src/create-video-client.ts';
import type { VideoClientOptions } from '../../packages/client/src/client-options.ts';
import type { StreamSource, VideoClient } from '../../packages/client/src/video-client.ts';
import { verifyWebhook } from '../../packages/client/src/webhooks/verify-webhook.ts';
import type { WebhookEvent } from '../../packages/client/src/webhooks/webhook-event.ts';
import {
  ForbiddenError,
  NotFoundError,
  RateLimitedError,
  RejectedError,
  UnauthorizedError,
  VideoFailedError,
  WaitTimeoutError,
} from '../../packages/client/src/errors.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import type { RunningSandbox } from '../sandbox/running-sandbox.ts';
import { admin } from './admin-side.ts';
import { failure } from './open-client.ts';

const sample = (name: string) => fileURLToPath(new URL(`../media/${name}`, import.meta.url));
const clip = sample('clip.mp4');
const fields = { title: 'A clip', channelId: 'ch_news' };
const patient = { intervalMs: 1000, waitMs: 20_000 };

function clientOf({ sandbox }: RunningSandbox, options: Partial<VideoClientOptions> = {}): VideoClient {
  return createVideoClient({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey, proxyEnv: {}, ...options });
}

describe('against the sandbox', () => {
  test('a video is uploaded, becomes ready, is changed, published, counted and deleted', async () => {
    await using running = await runSandbox();
    await using client = clientOf(running);
    const progress: number[] = [];
    const statuses: string[] = [];
    const { size } = await stat(clip);

    const uploaded = await client.videos.upload(
      clip,
      { ...fields, description: 'D', tags: ['a', 'b'] },
      {
        onProgress: (sent) => progress.push(sent),
      },
    );
    expect(uploaded).toMatchObject({ id: expect.stringMatching(/^vid_/), sizeBytes: size });
    expect(progress.at(-1)).toBe(size);
    expect(running.sandbox.files().map(({ sha256 }) => sha256)).toEqual([uploaded.sha256]);

    const onStatus = (status: string) => void statuses.push(status);
    const ready = await client.videos.waitUntilReady(uploaded.id, { ...patient, onStatus });
    expect(ready).toMatchObject({ ...fields, description: 'D', tags: ['a', 'b'], status: 'ready' });
    expect(ready).toMatchObject({ duration: expect.any(Number), embedUrl: expect.any(String) });
    expect(statuses.at(-1)).toBe('ready');

    const changes = { title: 'Better', description: 'E', tags: [] };
    expect(await client.videos.update(uploaded.id, changes)).toMatchObject(changes);
    expect(await client.videos.get(uploaded.id)).toMatchObject(changes);

    const published = await client.feeds.publish('feed_news');
    expect(published).toMatchObject({ feedId: 'feed_news', status: 'published', videoCount: 1 });
    expect(published.publishedAt).toMatch(/^\d{4}-\d\d-\d\dT/);

    const period = { from: '2026-01-01', to: '2026-01-31' };
    expect(await client.analytics.video(uploaded.id, period)).toEqual({
      videoId: uploaded.id,
      period,
      views: 0,
      uniqueViewers: 0,
      avgWatchTimeSeconds: 0,
      completionRate: 0,
    });
    expect(await client.analytics.overview({ channelId: 'ch_news', ...period })).toMatchObject({
      period,
      totalViews: 0,
      uniqueViewers: 0,
    });
    expect((await client.analytics.overview()).period.to).toMatch(/^\d{4}-\d\d-\d\d$/);

    await client.videos.delete(uploaded.id);
    expect(await failure(client.videos.get(uploaded.id))).toBeInstanceOf(NotFoundError);
    expect(await failure(client.videos.delete(uploaded.id))).toBeInstanceOf(NotFoundError);
    expect(await failure(client.videos.waitUntilReady(uploaded.id))).toBeInstanceOf(NotFoundError);
  });

  test('videos are listed over pages, and by channel and status', async () => {
    await using running = await runSandbox();
    await using client = clientOf(running);
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) ids.push((await client.videos.create({ ...fields, title: `T${at}` })).id);
    const listed: string[] = [];
    for await (const { id } of client.videos.list({ perPage: 2 })) listed.push(id);
    expect(listed.toSorted()).toEqual(ids.toSorted());
    expect(running.sandbox.requests().filter(({ operation }) => operation === 'videos.list')).toHaveLength(4);
    expect(await client.videos.list().toArray({ limit: 3 })).toHaveLength(3);
    expect(await client.videos.list({ channelId: 'ch_main' }).toArray()).toEqual([]);
    expect(await client.videos.list({ status: 'ready' }).toArray()).toEqual([]);
    expect(await client.videos.list({ perPage: 2 }).page(3)).toMatchObject({ page: 3, perPage: 2, total: 5 });
  });

  test('channels and feeds are listed, and a channel is changed', async () => {
    await using running = await runSandbox();
    await using client = clientOf(running);
    expect((await client.channels.list()).map(({ id }) => id)).toContain('ch_news');
    expect((await client.feeds.list()).find(({ id }) => id === 'feed_news')).toMatchObject({
      type: 'mrss',
      channelId: 'ch_news',
    });
    const changes = { name: 'N', description: 'D', defaultPlayerSettings: { autoplay: true } };
    expect(await client.channels.update('ch_news', changes)).toMatchObject({ id: 'ch_news', ...changes });
    expect(await failure(client.feeds.publish('feed_0'))).toBeInstanceOf(NotFoundError);
  });

  test('a stream is uploaded, to another origin too', async () => {
    await using running = await runSandbox({ uploadOrigin: 'separate' });
    await using client = clientOf(running);
    const { size } = await stat(clip);
    const source: StreamSource = { name: 'clip.mp4', sizeBytes: size, open: () => createReadStream(clip) };
    const created = await client.videos.create(fields);
    const { sha256 } = await client.videos.send(source, created);
    expect(running.sandbox.files()).toMatchObject([{ videoId: created.id, sha256 }]);
    expect(await failure(client.videos.send(source, created))).toMatchObject({ name: 'UploadConflictError' });
  });

  test('a video is imported from an address', async () => {
    await using running = await runSandbox();
    await using client = clientOf(running);
    const bytes = await readFile(clip);
    await using server = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(bytes);
    });
    const imported = await client.videos.import(`${server.origin}/clip.mp4`, fields);
    expect(await client.videos.waitUntilReady(imported.id, patient)).toMatchObject({ status: 'ready' });
  });

  test('a file that is not a video fails with the reason; a slow one is awaited up to the time limit', async () => {
    await using running = await runSandbox();
    await using client = clientOf(running);
    const bad = { name: 'bad.mp4', sizeBytes: 4, open: () => createReadStream(clip, { end: 3 }) };
    const { id } = await client.videos.upload(bad, fields);
    const error = await failure(client.videos.waitUntilReady(id, patient));
    expect(error).toBeInstanceOf(VideoFailedError);
    expect(error).toMatchObject({ videoId: id, reason: expect.stringMatching(/\w/) });
    const pending = await client.videos.create(fields);
    expect(await failure(client.videos.waitUntilReady(pending.id, { waitMs: 0 }))).toBeInstanceOf(WaitTimeoutError);
  });

  test('refusals are errors of their kinds', async () => {
    await using running = await runSandbox();
    await using client = clientOf(running);
    await using stranger = clientOf(running, { apiKey: 'sk_nobody_knows_this' });
    expect(await failure(stranger.feeds.list())).toBeInstanceOf(UnauthorizedError);
    const error = await failure(client.videos.create({ ...fields, channelId: 'ch_none' }));
    expect(error).toBeInstanceOf(RejectedError);
    expect(error).toMatchObject({ status: expect.any(Number), code: expect.any(String) });
    const reading = (await admin(running.sandbox, 'POST', '/keys', { name: 'reader', read_only: true })) as {
      key: string;
    };
    await using reader = clientOf(running, { apiKey: reading.key });
    expect(await reader.channels.list()).not.toEqual([]);
    expect(await failure(reader.videos.create(fields))).toBeInstanceOf(ForbiddenError);
  });

  test('the limit is an error that says how long to wait', async () => {
    await using running = await runSandbox({ requestsPerHour: 2 });
    await using client = clientOf(running);
    await client.feeds.list();
    await client.feeds.list();
    const error = await failure(client.feeds.list());
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limited', retryAfterMs: expect.any(Number) });
    expect(running.sandbox.requests()).toHaveLength(3);
  });

  test('everything goes over TLS with its certificate', async () => {
    await using running = await runSandbox({ tls: true });
    const ca = await readFile(running.sandbox.caPath ?? '', 'utf8');
    await using client = clientOf(running, { ca });
    const { id } = await client.videos.upload(clip, fields);
    expect(await client.videos.waitUntilReady(id, patient)).toMatchObject({ status: 'ready' });
    await using wary = clientOf(running, { maxRetries: 0 });
    expect(await failure(wary.feeds.list())).toMatchObject({ name: 'ConnectionError', sent: false });
  });

  test('its webhooks are verified', async () => {
    await using running = await runSandbox();
    await using client = clientOf(running);
    const events: WebhookEvent[] = [];
    const errors: unknown[] = [];
    let secret = '';
    await using server = await startServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        try {
          events.push(verifyWebhook({ body: Buffer.concat(chunks), headers: request.headers, secret }));
        } catch (error) {
          errors.push(error);
        }
        response.writeHead(204).end();
      });
    });
    const url = `${server.origin}/`;
    ({ secret } = (await admin(running.sandbox, 'POST', '/webhooks', { url })) as { secret: string });
    const { id } = await client.videos.upload(clip, fields);
    await until('video.ready', () => events.find((event) => event.type === 'video.ready'));
    await client.feeds.publish('feed_news');
    await until('feed.published', () => events.find((event) => event.type === 'feed.published'));
    expect(errors).toEqual([]);
    expect(events).toMatchObject([
      { isKnown: true, type: 'video.ready', data: { id, status: 'ready', title: 'A clip' } },
      { isKnown: true, type: 'feed.published', data: { feedId: 'feed_news', status: 'published', videoCount: 1 } },
    ]);
  });
});
