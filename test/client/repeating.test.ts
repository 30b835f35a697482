import nock from 'nock';
import { describe, expect, test } from 'vitest';

import {
  AbortedError,
  ConnectionError,
  ForbiddenError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  RedirectError,
  RejectedError,
  ServiceError,
  UnauthorizedError,
} from '../../packages/client/src/errors.ts';
import type { SeenExchange } from '../../packages/client/src/transport/exchange.ts';
import type { VideoClient } from '../../packages/client/src/video-client.ts';
import { failure, openClient } from './open-client.ts';
import { base, mockExchanges } from './nocked.ts';

mockExchanges();

const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

describe('a call', () => {
  const calls: [string, string, string, (client: VideoClient) => Promise<unknown>][] = [
    ['get', 'GET', '/videos/v', (client) => client.videos.get('v')],
    ['list', 'GET', '/videos?page=1&per_page=100', (client) => client.videos.list().page(1)],
    ['update', 'PATCH', '/videos/v', (client) => client.videos.update('v', { title: 'T' })],
    ['delete', 'DELETE', '/videos/v', (client) => client.videos.delete('v')],
    ['channels', 'GET', '/channels', (client) => client.channels.list()],
    ['channel', 'PATCH', '/channels/c', (client) => client.channels.update('c', { name: 'N' })],
    ['feeds', 'GET', '/feeds', (client) => client.feeds.list()],
    ['publish', 'POST', '/feeds/f/publish', (client) => client.feeds.publish('f')],
    ['video analytics', 'GET', '/analytics/videos?video_id=v', (client) => client.analytics.video('v')],
    ['overview', 'GET', '/analytics/overview', (client) => client.analytics.overview()],
  ];

  test.each(calls)('%s is repeated after passing failures', async (_, method, path, call) => {
    await using opened = openClient(base, { maxRetries: 4 });
    const answering = nock(base);
    for (const status of [408, 429, 500, 503]) answering.intercept(path, method).reply(status);
    const record = { id: 'v', status: 'ready', views: 1, unique_viewers: 1, total_views: 1 };
    const isList = /^\/(channels|feeds|videos\?.*)$/.test(path);
    answering.intercept(path, method).reply(200, { data: isList ? [] : record });
    await call(opened.client);
    expect(opened.sleeps).toEqual([500, 1000, 2000, 4000]);
  });

  test.each(calls)('%s is repeated after a connection that broke', async (_, method, path, call) => {
    await using opened = openClient(base, { maxRetries: 1 });
    nock(base).intercept(path, method).times(2).replyWithError(reset);
    expect(await failure(call(opened.client))).toBeInstanceOf(ConnectionError);
    expect(opened.sleeps).toEqual([500]);
  });

  test.each([
    [400, RejectedError],
    [401, UnauthorizedError],
    [402, PaymentRequiredError],
    [403, ForbiddenError],
    [404, NotFoundError],
    [422, RejectedError],
    [302, RedirectError],
  ])('that is answered %i is not repeated', async (status, Kind) => {
    await using opened = openClient(base);
    const headers = { 'x-request-id': 'req_7' };
    nock(base)
      .get('/videos/v')
      .reply(status, { error: { code: 'c', message: 'm' } }, headers);
    const error = await failure(opened.client.videos.get('v'));
    expect(error).toBeInstanceOf(Kind);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ status, code: status === 302 ? 'redirect' : 'c', requestId: 'req_7' });
    expect(opened.sleeps).toEqual([]);
  });

  test('has its number of repetitions from the client, or of its own', async () => {
    await using opened = openClient(base, { maxRetries: 1 });
    nock(base).get('/feeds').times(2).reply(500).get('/channels').times(4).reply(500);
    expect(await failure(opened.client.feeds.list())).toMatchObject({ status: 500 });
    expect(await failure(opened.client.channels.list({ maxRetries: 3 }))).toMatchObject({ status: 500 });
    expect(opened.requests.map(({ attempt }) => attempt)).toEqual([1, 2, 1, 2, 3, 4]);
    expect(await failure(opened.client.feeds.list({ maxRetries: 11 }))).toBeInstanceOf(TypeError);
    expect(await failure(opened.client.feeds.list({ timeoutMs: 0 }))).toBeInstanceOf(TypeError);
  });
});

describe('creating a video', () => {
  test.each([408, 500, 502, 503])('is not repeated after %i', async (status) => {
    await using opened = openClient(base);
    nock(base).post('/videos').reply(status, '', { 'retry-after': '1' });
    expect(await failure(opened.client.videos.create({ title: 'T' }))).toMatchObject({ status });
    expect(opened.sleeps).toEqual([]);
  });

  test('is not repeated after an answer that cannot be read', async () => {
    await using opened = openClient(base);
    nock(base).post('/videos').reply(201, '{"id":');
    expect(await failure(opened.client.videos.create({ title: 'T' }))).toMatchObject({ code: 'unreadable_answer' });
  });

  test('is repeated after a 429, which says that it was not done', async () => {
    await using opened = openClient(base);
    nock(base)
      .post('/videos')
      .reply(429, '', { 'retry-after': '7' })
      .post('/videos')
      .reply(201, { id: 'v', upload_url: 'https://u/1' });
    expect(await opened.client.videos.create({ title: 'T' })).toMatchObject({ id: 'v' });
    expect(opened.sleeps).toEqual([7000]);
  });
});

describe('a key of the caller for create requests', () => {
  test('is sent again while the service still makes the record of a request that broke off', async () => {
    await using opened = openClient(base, { honoursIdempotencyKey: true });
    nock(base)
      .post('/videos')
      .replyWithError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    nock(base)
      .post('/videos')
      .reply(409, { error: { code: 'in_progress', message: 'still being made' } });
    nock(base).post('/videos').reply(201, { id: 'v', upload_url: 'https://u.example.com/u', status: 'pending' });
    expect(await opened.client.videos.create({ title: 'T' })).toMatchObject({ id: 'v' });
    expect(opened.sleeps).toEqual([500, 1000]);
  });

  test.each(['', '   '])('is refused where it is empty, %j: no service would recognise it', async (idempotencyKey) => {
    await using opened = openClient(base, { honoursIdempotencyKey: true });
    const creating = opened.client.videos.create({ title: 'T' }, { idempotencyKey });
    await expect(creating).rejects.toThrow(/^idempotencyKey is empty$/);
    expect(opened.requests).toEqual([]);
  });
});

describe('deleting a video', () => {
  test.each([
    ['500', 500],
    ['408', 408],
    ['a broken connection', null],
  ] as const)(
    'is done when it is not found after %s, which may have been the answer to a deletion',
    async (_, status) => {
      await using opened = openClient(base);
      const first = nock(base).delete('/videos/v');
      (status === null ? first.replyWithError(reset) : first.reply(status)).delete('/videos/v').reply(404);
      expect(await opened.client.videos.delete('v')).toBeUndefined();
      expect(opened.requests).toHaveLength(2);
    },
  );

  test.each([undefined, 429])('that is not found at once, or after %s, fails', async (before) => {
    await using opened = openClient(base);
    if (before !== undefined) nock(base).delete('/videos/v').reply(before);
    nock(base).delete('/videos/v').reply(404);
    expect(await failure(opened.client.videos.delete('v'))).toBeInstanceOf(NotFoundError);
  });
});

describe('Retry-After', () => {
  test('is waited for, in seconds and as a date, also when it is longer than the backoff', async () => {
    await using opened = openClient(base);
    const date = 'Fri, 20 Nov 2026 12:00:00 GMT';
    nock(base)
      .get('/feeds')
      .reply(429, '', { 'retry-after': '42' })
      .get('/feeds')
      .reply(503, '', { 'retry-after': 'Fri, 20 Nov 2026 12:00:55 GMT', date })
      .get('/feeds')
      .reply(200, { data: [] });
    expect(await opened.client.feeds.list()).toEqual([]);
    expect(opened.sleeps).toEqual([42_000, 55_000]);
  });

  test('that is longer than allowed goes to the caller at once, as it was sent', async () => {
    await using opened = openClient(base, { maxRetryAfterMs: 10_000 });
    nock(base)
      .get('/feeds')
      .reply(429, '', { 'retry-after': '7200' })
      .get('/feeds')
      .reply(503, '', { 'retry-after': '11' });
    const error = await failure(opened.client.feeds.list());
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({ status: 429, retryAfterMs: 7_200_000 });
    expect(await failure(opened.client.feeds.list())).toMatchObject({ status: 503, retryAfterMs: 11_000 });
    expect(opened.sleeps).toEqual([]);
  });
});

describe('a signal', () => {
  test('that has fired lets nothing leave', async () => {
    await using opened = openClient(base);
    const signal = AbortSignal.abort();
    for (const work of [
      opened.client.feeds.list({ signal }),
      opened.client.videos.list({}, { signal }).toArray(),
      opened.client.videos.waitUntilReady('v', { signal }),
      opened.client.videos.delete('v', { signal }),
    ]) {
      expect(await failure(work)).toBeInstanceOf(AbortedError);
    }
    expect(opened.requests).toEqual([]);
    expect(opened.responses).toEqual([]);
  });

  test('ends a wait between attempts', async () => {
    const stop = new AbortController();
    await using opened = openClient(base, { onSleep: () => stop.abort() });
    nock(base).get('/feeds').reply(503);
    expect(await failure(opened.client.feeds.list({ signal: stop.signal }))).toMatchObject({ code: 'aborted' });
    expect(opened.requests).toHaveLength(1);
  });
});

describe('hooks', () => {
  test('see each attempt and how it ended', async () => {
    await using opened = openClient(base, { maxRetries: 2 });
    nock(base)
      .get('/videos/v')
      .reply(503, '', { 'x-request-id': 'req_1' })
      .get('/videos/v')
      .replyWithError(reset)
      .get('/videos/v')
      .reply(200, { id: 'v', status: 'ready' });
    await opened.client.videos.get('v');
    const note = { operation: 'get video', method: 'GET', path: '/videos/v' };
    expect(opened.requests).toEqual([1, 2, 3].map((attempt) => ({ ...note, attempt })));
    const ms = expect.any(Number) as number;
    expect(opened.responses).toEqual([
      { ...note, attempt: 1, status: 503, ms, requestId: 'req_1' },
      { ...note, attempt: 2, ms },
      { ...note, attempt: 3, status: 200, ms },
    ]);
  });

  test('that want all of an exchange get both sides as they were sent', async () => {
    const seen: SeenExchange[] = [];
    await using opened = openClient(base, { onExchange: (exchange) => void seen.push(exchange) });
    nock(base)
      .patch('/videos/v', { title: 'T' })
      .reply(404, { error: { code: 'not_found' } }, { 'x-request-id': 'r1' });
    await failure(opened.client.videos.update('v', { title: 'T' }));
    expect(seen).toEqual([
      {
        at: expect.any(Number) as number,
        ms: expect.any(Number) as number,
        method: 'PATCH',
        url: `${base}/videos/v`,
        requestHeaders: expect.objectContaining({
          authorization: expect.stringMatching(/^Bearer /) as string,
        }) as object,
        requestBody: '{"title":"T"}',
        interim: [],
        status: 404,
        headers: expect.objectContaining({ 'x-request-id': 'r1' }) as object,
        body: '{"error":{"code":"not_found"}}',
      },
    ]);
  });

  test('that throw, or reject, do no harm but a warning', async () => {
    const warnings: string[] = [];
    const listen = (warning: Error) => void warnings.push(`${warning.name}: ${warning.message}`);
    process.on('warning', listen);
    const onRequest = () => {
      throw new Error('of mine at https://u:p@a.example.com/secret');
    };
    // An async function is taken for one that returns nothing, wherever a linter does not see it.
    const onResponse = () => Promise.reject(new Error('of mine too')) as unknown as void;
    const onExchange = () => {
      throw new Error('of mine as well');
    };
    await using opened = openClient(base, { onRequest, onResponse, onExchange });
    nock(base).get('/feeds').reply(200, { data: [] });
    expect(await opened.client.feeds.list()).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    expect(warnings).toEqual([
      'DropcastWarning: onRequest threw: of mine at https://a.example.com/…',
      'DropcastWarning: onExchange threw: of mine as well',
      'DropcastWarning: onResponse threw: of mine too',
    ]);
  });
});
