import nock from 'nock';
import { describe, expect, test } from 'vitest';

import {
  ForbiddenError,
  NotFoundError,
  RateLimitedError,
  ServerError,
  VideoFailedError,
  WaitTimeoutError,
} from '../../packages/client/src/errors.ts';
import { failure, openClient } from './open-client.ts';
import type { WaitNote } from '../../packages/client/src/waiting.ts';
import { base, mockExchanges } from './nocked.ts';

mockExchanges();

function answer(...videos: readonly object[]): void {
  const scope = nock(base);
  for (const video of videos) scope.get('/videos/v').reply(200, { data: { id: 'v', ...video } });
}

function refuse(status: number, headers: Record<string, string> = {}, times = 1): void {
  nock(base).get('/videos/v').times(times).reply(status, '', headers);
}

describe('waiting for a video', () => {
  test('ends with the video when it is ready; other words mean not yet', async () => {
    await using opened = openClient(base);
    const statuses = ['pending', 'processing', 'processing', 'transcoding', 'ready'];
    answer(...statuses.map((status) => ({ status })));
    const told: string[] = [];
    const video = await opened.client.videos.waitUntilReady('v', { onStatus: (status) => told.push(status) });
    expect(video).toEqual({ id: 'v', status: 'ready' });
    expect(told).toEqual(['pending', 'processing', 'transcoding', 'ready']);
    expect(opened.sleeps).toEqual([5000, 5000, 5000, 5000]);
  });

  test('asks as often as configured', async () => {
    await using opened = openClient(base);
    answer({ status: 'processing' }, { status: 'ready' });
    await opened.client.videos.waitUntilReady('v', { intervalMs: 100 });
    expect(opened.sleeps).toEqual([100]);
    expect(await failure(opened.client.videos.waitUntilReady('v', { intervalMs: 99 }))).toBeInstanceOf(TypeError);
    answer({ status: 'processing' }, { status: 'processing' }, { status: 'ready' });
    const slower = (waitedMs: number): number => 1000 + waitedMs;
    await opened.client.videos.waitUntilReady('v', { intervalMs: slower });
    expect(opened.sleeps).toEqual([100, 1000, 2000]);
    expect(await failure(opened.client.videos.waitUntilReady('v', { intervalMs: () => 0 }))).toBeInstanceOf(TypeError);
    expect(await failure(opened.client.videos.waitUntilReady('v', { waitMs: -1 }))).toBeInstanceOf(TypeError);
  });

  test('fails with the reason when the video did', async () => {
    await using opened = openClient(base);
    answer({ status: 'processing' }, { status: 'failed', error: { code: 'x', message: 'no  codec\u001b[31m' } });
    const error = await failure(opened.client.videos.waitUntilReady('v'));
    expect(error).toBeInstanceOf(VideoFailedError);
    expect(error).toMatchObject({
      code: 'video_failed',
      videoId: 'v',
      reason: 'no codec [31m',
      message: expect.stringMatching(/"v".*: no codec \[31m$/),
    });
    answer({ status: 'failed' });
    const silent = await failure(opened.client.videos.waitUntilReady('v'));
    expect(silent).toMatchObject({ message: expect.stringMatching(/"v" failed$/), reason: undefined });
  });

  test('gives up when the time is over, and says what it heard last', async () => {
    await using opened = openClient(base);
    answer({ status: 'pending' }, { status: 'processing' }, { status: 'processing' });
    const error = await failure(opened.client.videos.waitUntilReady('v', { waitMs: 8000 }));
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({
      code: 'wait_timeout',
      videoId: 'v',
      lastStatus: 'processing',
      message: expect.stringMatching(/"v".*8000 ms.*"processing"/),
    });
    // The last request has a second to be answered.
    expect(opened.sleeps).toEqual([5000, 2000]);
  });

  test('asks again halfway through a wait that has no second to spare', async () => {
    await using opened = openClient(base);
    answer({ status: 'processing' }, { status: 'ready' });
    const video = await opened.client.videos.waitUntilReady('v', { waitMs: 1000 });
    expect(video).toMatchObject({ status: 'ready' });
    expect(opened.sleeps).toEqual([500]);
  });

  test('cuts off what is under way when the time is over: a request at the gate, or without an answer', async () => {
    await using opened = openClient(base);
    nock(base).get('/videos/v').delay(60_000).reply(200, '');
    const unanswered = await failure(opened.client.videos.waitUntilReady('v', { waitMs: 100 }));
    expect(unanswered).toBeInstanceOf(WaitTimeoutError);
    expect(unanswered).toMatchObject({ lastStatus: undefined });
    nock.abortPendingRequests();
    const told: string[] = [];
    const requestGate = { pass: () => new Promise<void>(() => told.push('asked')), throttled() {} };
    await using held = openClient(base, { requestGate });
    const atGate = await failure(held.client.videos.waitUntilReady('v', { waitMs: 10 }));
    expect(atGate).toBeInstanceOf(WaitTimeoutError);
    expect(told).toEqual(['asked']);
  });

  test('asks once when there is no time at all', async () => {
    await using opened = openClient(base);
    answer({ status: 'ready' }, { status: 'processing' });
    expect(await opened.client.videos.waitUntilReady('v', { waitMs: 0 })).toMatchObject({ status: 'ready' });
    expect(await failure(opened.client.videos.waitUntilReady('v', { waitMs: 0 }))).toBeInstanceOf(WaitTimeoutError);
  });

  test.each([
    [404, NotFoundError],
    [403, ForbiddenError],
  ])('ends at once with a %i', async (status, Kind) => {
    await using opened = openClient(base);
    answer({ status: 'processing' });
    refuse(status);
    expect(await failure(opened.client.videos.waitUntilReady('v'))).toBeInstanceOf(Kind);
  });

  test('waits as long as the service asks, however often, within the bounds of every call, and says why', async () => {
    const told: WaitNote[] = [];
    await using opened = openClient(base, { maxRetries: 0, onWait: (note) => void told.push(note) });
    refuse(429, { 'retry-after': '60' }, 2);
    refuse(429);
    answer({ status: 'processing' }, { status: 'ready' });
    const ofCall: WaitNote[] = [];
    await opened.client.videos.waitUntilReady('v', { onWait: (note) => void ofCall.push(note) });
    expect(opened.sleeps).toEqual([60_000, 60_000, 5000, 5000]);
    const limited = { operation: 'get video', reason: 'rate limited', error: expect.any(RateLimitedError) };
    expect(told).toEqual([
      { ...limited, ms: 60_000 },
      { ...limited, ms: 60_000 },
      { ...limited, ms: 5000 },
      { operation: 'get video', reason: 'not ready', ms: 5000, status: 'processing' },
    ]);
    expect(ofCall).toEqual(told);
  });

  test('fails at once when the service asks for a longer pause than every call waits for', async () => {
    await using opened = openClient(base, { maxRetries: 0 });
    refuse(429, { 'retry-after': '61' });
    const error = await failure(opened.client.videos.waitUntilReady('v'));
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 61_000 });
    expect(opened.sleeps).toEqual([]);
    refuse(429, { 'retry-after': '600' });
    answer({ status: 'ready' });
    await opened.client.videos.waitUntilReady('v', { maxRetryAfterMs: 600_000 });
    expect(opened.sleeps).toEqual([600_000]);
    expect(await failure(opened.client.videos.waitUntilReady('v', { maxRetryAfterMs: -1 }))).toBeInstanceOf(TypeError);
  });

  test('hands a wait that would end too late to the caller', async () => {
    await using opened = openClient(base);
    answer({ status: 'processing' });
    refuse(429, { 'retry-after': '60' });
    const error = await failure(opened.client.videos.waitUntilReady('v', { waitMs: 60_000 }));
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({ retryAfterMs: 60_000 });
    expect(opened.sleeps).toEqual([5000]);
  });

  test('outlives a service that is unreachable for a while', async () => {
    await using opened = openClient(base, { maxRetries: 0 });
    answer({ status: 'processing' });
    refuse(502, {}, 59);
    answer({ status: 'ready' });
    expect(await opened.client.videos.waitUntilReady('v')).toMatchObject({ status: 'ready' });
    answer({ status: 'processing' });
    refuse(502, {}, 2);
    expect(await failure(opened.client.videos.waitUntilReady('v', { waitMs: 10_000 }))).toBeInstanceOf(ServerError);
  });

  test('does not wait for a service that never answered or stays unreachable', async () => {
    await using opened = openClient(base, { maxRetries: 0 });
    refuse(502);
    expect(await failure(opened.client.videos.waitUntilReady('v'))).toBeInstanceOf(ServerError);
    answer({ status: 'processing' });
    refuse(502, {}, 61);
    expect(await failure(opened.client.videos.waitUntilReady('v'))).toBeInstanceOf(ServerError);
    expect(opened.sleeps.length * 5000).toBe(305_000);
  });

  test('takes an interval that grows with the time waited, and tells whole milliseconds', async () => {
    const told: number[] = [];
    await using opened = openClient(base, { lateMs: 0.4, onWait: ({ ms }) => void told.push(ms) });
    answer(...['pending', 'pending', 'pending', 'ready'].map((status) => ({ status })));
    const waited: number[] = [];
    const intervalMs = (waitedMs: number): number => {
      waited.push(waitedMs);
      return 1000 + waitedMs * 1.1;
    };
    await opened.client.videos.waitUntilReady('v', { intervalMs, waitMs: 5000 });
    expect(told).toEqual([1000, 2100, 900]);
    expect(told).toEqual(opened.sleeps);
    expect(waited.every(Number.isInteger)).toBe(true);
    for (const wrong of [Number.NaN, Infinity, -1, 99, 2 ** 31]) {
      const waiting = opened.client.videos.waitUntilReady('v', { intervalMs: () => wrong });
      expect(await failure(waiting)).toBeInstanceOf(TypeError);
    }
  });

  test('makes no pause that the service asks for, one after the other, longer than waitMs together', async () => {
    await using opened = openClient(base);
    refuse(429, { 'retry-after': '50' }, 2);
    const error = await failure(opened.client.videos.waitUntilReady('v', { waitMs: 60_000 }));
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(opened.sleeps).toEqual([50_000]);
  });

  test('does not repeat a request when the time is over', async () => {
    await using opened = openClient(base, { maxRetries: 10 });
    answer({ status: 'processing' });
    refuse(503, {}, 2);
    const error = await failure(opened.client.videos.waitUntilReady('v', { waitMs: 6000, intervalMs: 5000 }));
    expect(error).toBeInstanceOf(ServerError);
    expect(opened.sleeps).toEqual([5000, 500]);
    refuse(503);
    expect(await failure(opened.client.videos.waitUntilReady('v', { waitMs: 0 }))).toBeInstanceOf(ServerError);
    expect(opened.sleeps).toHaveLength(2);
  });

  test.each([
    ['was rate limited', 600_000, 429],
    ['was seldom asked', 5000, 200],
  ])(
    'outlives a service that breaks down after it %s for longer than an outage may last',
    async (_, pauseMs, status) => {
      await using opened = openClient(base, { maxRetries: 0 });
      answer({ status: 'processing' });
      if (status === 429) refuse(429, { 'retry-after': String(pauseMs / 1000) });
      refuse(502);
      answer({ status: 'ready' });
      const intervalMs = status === 429 ? 5000 : 400_000;
      const video = await opened.client.videos.waitUntilReady('v', { intervalMs, maxRetryAfterMs: 600_000 });
      expect(video.status).toBe('ready');
    },
  );

  test('ends with what onStatus throws, also when it is asynchronous', async () => {
    await using opened = openClient(base);
    const refusal = new Error('not wanted');
    const onStatus: () => unknown = async () => {
      throw refusal;
    };
    answer({ status: 'processing' });
    expect(await failure(opened.client.videos.waitUntilReady('v', { onStatus }))).toBe(refusal);
    answer({ status: 'processing' });
    const throws = (): never => {
      throw refusal;
    };
    expect(await failure(opened.client.videos.waitUntilReady('v', { onStatus: throws }))).toBe(refusal);
  });
});
