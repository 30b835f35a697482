import nock from 'nock';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';

import {
  AbortedError,
  ForbiddenError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  RedirectError,
  RejectedError,
  ServerError,
  UnauthorizedError,
  UnreadableAnswerError,
} from '../../packages/client/src/errors.ts';
import type { ServiceError } from '../../packages/client/src/errors.ts';
import { createVideoService } from '../../src/host/video-service.ts';
import { apiKey, openService } from '../client/open-service.ts';

const base = 'https://video.example.com/v1';
const poll = { lane: 'poll' } as const;

beforeAll(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
afterEach(() => {
  const unused = nock.pendingMocks();
  nock.cleanAll();
  expect(unused).toEqual([]);
});

describe('the calls of the service', () => {
  test('creating a video sends what the specification names, under a token of its own', async () => {
    await using opened = openService(base);
    nock(base, {
      reqheaders: { authorization: `Bearer ${apiKey}`, 'idempotency-key': 'token-1', 'user-agent': 'dropcast' },
    })
      .post('/videos', { title: 'T', description: 'D', channel_id: 'ch_1', tags: ['a'] })
      .reply(201, { id: 'vid_1', upload_url: 'https://up.example.com/1', status: 'pending' });
    const request = { title: 'T', description: 'D', channelId: 'ch_1', tags: ['a'] };
    const created = await opened.service.createVideo(request, { idempotencyKey: 'token-1' });
    expect(created).toEqual({ id: 'vid_1', uploadUrl: 'https://up.example.com/1', status: 'pending' });
    expect(opened.taken).toEqual(['create']);
    expect(opened.notes).toEqual([{ operation: 'create video', status: 201, ms: expect.any(Number) }]);
  });

  test('an import may be answered without an upload address, a file may not', async () => {
    await using opened = openService(base);
    nock(base)
      .post('/videos', { title: 'T', channel_id: 'ch_1', tags: [], source_url: 'https://a.example.com/x.mp4' })
      .reply(202, { data: { id: 'vid_1', status: 'processing' } })
      .post('/videos')
      .reply(201, { id: 'vid_2', status: 'pending' });
    const request = { title: 'T', description: null, channelId: 'ch_1', tags: [] };
    const imported = await opened.service.createVideo(
      { ...request, sourceUrl: 'https://a.example.com/x.mp4' },
      { idempotencyKey: 't' },
    );
    expect(imported).toEqual({ id: 'vid_1', uploadUrl: null, status: 'processing' });
    await expect(opened.service.createVideo(request, { idempotencyKey: 't' })).rejects.toThrow(UnreadableAnswerError);
  });

  test('reading videos, channels and feeds', async () => {
    await using opened = openService(base);
    nock(base)
      .get('/videos/vid_1')
      .reply(200, { data: { id: 'vid_1', status: 'ready' } })
      .get('/videos?page=2&per_page=100&channel_id=ch_1&status=ready')
      .reply(200, { data: [{ id: 'vid_1', status: 'ready' }], meta: { page: 2, per_page: 100, total: 101 } })
      .get('/videos?page=1&per_page=25')
      .reply(200, { data: [] })
      .get('/channels')
      .reply(200, { data: [{ id: 'ch_1', name: 'N' }] })
      .get('/feeds')
      .reply(200, { data: [{ id: 'feed_1', type: 'mrss' }] });
    const { service } = opened;
    expect(await service.getVideo('vid_1', poll)).toEqual({ id: 'vid_1', status: 'ready' });
    const page = await service.listVideos({ page: 2, perPage: 100, channelId: 'ch_1', status: 'ready' }, poll);
    expect(page).toEqual({ videos: [{ id: 'vid_1', status: 'ready' }], page: 2, perPage: 100, total: 101 });
    expect(await service.listVideos({ page: 1, perPage: 25 }, poll)).toMatchObject({ videos: [], total: null });
    expect(await service.listChannels(poll)).toEqual([{ id: 'ch_1', name: 'N' }]);
    expect(await service.listFeeds(poll)).toEqual([{ id: 'feed_1', type: 'mrss' }]);
    expect(opened.taken).toEqual(['poll', 'poll', 'poll', 'poll', 'poll']);
  });

  test('changing, deleting and publishing take any 2xx, with or without a body', async () => {
    await using opened = openService(base);
    nock(base)
      .patch('/videos/vid_1', { title: 'T', tags: [] })
      .reply(200, 'ok')
      .delete('/videos/vid_1')
      .reply(204)
      .delete('/videos/vid_2')
      .reply(202, {})
      .post('/feeds/feed_1/publish', '')
      .reply(200, { feed_id: 'feed_1', status: 'published', published_at: 'T', video_count: 2 })
      .post('/feeds/feed_1/publish')
      .reply(204);
    const { service } = opened;
    await service.updateVideo('vid_1', { title: 'T', tags: [] }, poll);
    await service.deleteVideo('vid_1', poll);
    await service.deleteVideo('vid_2', poll);
    expect(await service.publishFeed('feed_1', { lane: 'finish' })).toEqual({
      feedId: 'feed_1',
      status: 'published',
      publishedAt: 'T',
      videoCount: 2,
    });
    expect(await service.publishFeed('feed_1', { lane: 'finish' })).toEqual({ status: 'published' });
  });

  test('an id is one segment of the path, whatever is in it', async () => {
    await using opened = openService(base);
    nock(base).get('/videos/a%2F..%2Fb%3Fc%23d%20e').reply(200, { id: 'x', status: 'ready' });
    await opened.service.getVideo('a/../b?c#d e', poll);
    for (const id of ['', '.', '..']) {
      await expect(async () => opened.service.deleteVideo(id, poll)).rejects.toThrow(RejectedError);
    }
    expect(opened.taken).toHaveLength(1);
  });

  test('a key that no header can carry is refused at once, without being shown', () => {
    const options = { baseUrl: base, sendKeyTo: [], gate: { take: async () => {}, throttled: () => {} } };
    const open = () => createVideoService({ ...options, apiKey: { reveal: () => 'sk_secret\n' } });
    expect(open).toThrow(/^the API key is empty or holds characters/);
  });
});

describe('an answer that is no success', () => {
  async function answered(
    status: number,
    body: string | object,
    headers: Record<string, string> = {},
  ): Promise<ServiceError & Record<string, unknown>> {
    await using opened = openService(base);
    nock(base).get('/videos/vid_1').reply(status, body, headers);
    const error = await opened.service.getVideo('vid_1', poll).catch((reason: unknown) => reason);
    expect(opened.throttled).toHaveLength(status === 429 ? 1 : 0);
    expect(opened.notes).toEqual([{ operation: 'get video', status, ms: expect.any(Number) }]);
    return error as ServiceError & Record<string, unknown>;
  }

  test.each([
    [401, UnauthorizedError],
    [402, PaymentRequiredError],
    [403, ForbiddenError],
    [404, NotFoundError],
    [429, RateLimitedError],
    [400, RejectedError],
    [408, RejectedError],
    [413, RejectedError],
    [422, RejectedError],
    [500, ServerError],
    [503, ServerError],
  ])('%i is an error of its own, with what the service says', async (status, kind) => {
    const error = await answered(
      status,
      { error: { code: 'some_code', message: 'some words' } },
      { 'x-request-id': 'req_1' },
    );
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({
      status,
      code: 'some_code',
      requestId: 'req_1',
      message: `the service answered ${status} some_code: some words`,
    });
  });

  test('429 shuts the gate for as long as it says', async () => {
    await using opened = openService(base);
    nock(base).get('/videos/v').reply(429, {}, { 'retry-after': '42' }).get('/videos/v').reply(429, {});
    await expect(opened.service.getVideo('v', poll)).rejects.toMatchObject({ retryAfterMs: 42_000 });
    await expect(opened.service.getVideo('v', poll)).rejects.toMatchObject({ retryAfterMs: undefined });
    expect(opened.throttled).toEqual([42_000, undefined]);
  });

  test('a 503 that asks for time is heard', async () => {
    expect(await answered(503, '<h1>Maintenance</h1>', { 'retry-after': '120' })).toMatchObject({
      retryAfterMs: 120_000,
      code: 'service_unavailable',
      message: 'the service answered 503 service_unavailable: Maintenance',
    });
  });

  test.each([301, 302, 303, 307, 308])('%i is never followed and names only where it leads', async (status) => {
    const error = await answered(status, '', { location: 'https://evil.example.com/steal?x=abcdefghijk' });
    expect(error).toBeInstanceOf(RedirectError);
    expect(error.message).toBe(
      `the service answered ${status}, a redirect to https://evil.example.com, which is never followed`,
    );
  });

  test('a message with our key in it is shown without', async () => {
    const error = await answered(401, {
      error: { code: 'unauthorized', message: `${'x'.repeat(190)} ${apiKey} is revoked` },
    });
    expect(error.message).not.toContain(apiKey.slice(0, 9));
  });
});

describe('a success that cannot be read', () => {
  test.each([
    ['a web page', '<!doctype html><p>Log in', 'text/html', /a web page, as a proxy or a login portal sends it/],
    ['text', 'ok', 'text/plain', /a body that is not JSON/],
    ['nothing', '', 'application/json', /an empty body/],
    ['half of it', '{"id":"vid_1","sta', 'application/json', /a body that is not JSON/],
    ['another shape', '{"videos":[]}', 'application/json', /JSON of another shape/],
    ['null', 'null', 'application/json', /JSON of another shape/],
  ])('is an error of its own: %s', async (_, body, type, message) => {
    await using opened = openService(base);
    nock(base).get('/videos/v').reply(200, body, { 'content-type': type });
    const error = await opened.service.getVideo('v', poll).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnreadableAnswerError);
    expect(error).toMatchObject({ status: 200, code: 'unreadable_answer', message: expect.stringMatching(message) });
  });

  test('a web page is no success for a deletion either', async () => {
    await using opened = openService(base);
    nock(base).delete('/videos/v').reply(200, '<html>Log in</html>', { 'content-type': 'text/html' });
    await expect(opened.service.deleteVideo('v', poll)).rejects.toThrow(UnreadableAnswerError);
  });

  test('an answer over 10 MiB is cut', async () => {
    await using opened = openService(base);
    nock(base)
      .get('/feeds')
      .reply(200, Buffer.alloc(11 * 1024 * 1024, ' '));
    await expect(opened.service.listFeeds(poll)).rejects.toMatchObject({ code: 'answer_too_long' });
  });
});

describe('the gate and the signal', () => {
  test('no request without the gate', async () => {
    const gate = { take: () => Promise.reject(new Error('ledger is full')), throttled: () => {} };
    await using opened = openService(base, { gate });
    await expect(opened.service.getVideo('v', poll)).rejects.toThrow('ledger is full');
  });

  test('a call that is broken off while it waits at the gate makes no request', async () => {
    const stop = new AbortController();
    const gate = { take: async () => stop.abort(), throttled: () => {} };
    await using opened = openService(base, { gate });
    await expect(opened.service.getVideo('v', { lane: 'poll', signal: stop.signal })).rejects.toThrow(AbortedError);
    expect(opened.notes.filter((note) => note.status !== undefined)).toEqual([]);
  });

  test('a closed client makes no request', async () => {
    const opened = openService(base);
    await opened[Symbol.asyncDispose]();
    await expect(opened.service.getVideo('v', poll)).rejects.toThrow(AbortedError);
    expect(opened.taken).toEqual([]);
  });
});
