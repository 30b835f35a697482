import nock from 'nock';
import { describe, expect, test } from 'vitest';

import { NotFoundError, ServiceError } from '../../packages/client/src/errors.ts';
import { failure, openClient } from './open-client.ts';
import { base, mockExchanges } from './nocked.ts';

mockExchanges();

const video = { id: 'v', status: 'ready', title: 'T' };

describe('the answer behind a value', () => {
  test('comes with it on request: status, headers, body, request id and the number of attempts', async () => {
    await using opened = openClient(base);
    const headers = { 'x-request-id': 'req_1', 'set-cookie': ['a=1', 'b=2'], 'x-ratelimit-remaining': '7' };
    nock(base).get('/videos/v').reply(503).get('/videos/v').reply(203, { data: video }, headers);
    const { data, response } = await opened.client.videos.get('v').withResponse();
    expect(data).toEqual(video);
    expect(response).toMatchObject({ status: 203, requestId: 'req_1', attempts: 2 });
    expect(JSON.parse(response.body)).toEqual({ data: video });
    expect(response.headers.get('X-RateLimit-Remaining')).toBe('7');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  test('costs no second request', async () => {
    await using opened = openClient(base);
    nock(base).get('/channels').reply(200, { data: [] });
    const call = opened.client.channels.list();
    const { data } = await call.withResponse();
    expect(await call).toBe(data);
    expect(opened.requests).toHaveLength(1);
  });

  test('comes with a page too', async () => {
    await using opened = openClient(base);
    nock(base).get('/videos').query({ page: 2, per_page: 100 }).reply(200, { data: [] }, { 'x-total': '5' });
    const { response } = await opened.client.videos.list().page(2).withResponse();
    expect(response.headers.get('x-total')).toBe('5');
  });

  test('a call that fails has none, and its error need not be caught twice', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    try {
      await using opened = openClient(base);
      nock(base).get('/videos/v').times(2).reply(404);
      expect(await failure(opened.client.videos.get('v').withResponse())).toBeInstanceOf(NotFoundError);
      expect(await failure(opened.client.videos.get('v'))).toBeInstanceOf(NotFoundError);
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
      // Nobody takes it: as unhandled as that of any other promise.
      nock(base).get('/channels').reply(404).get('/feeds').reply(404);
      void opened.client.channels.list().withResponse();
      void opened.client.feeds.list();
      await expect.poll(() => unhandled).toEqual([expect.any(ServiceError), expect.any(ServiceError)]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });
});
