import { setTimeout as sleep } from 'node:timers/promises';
import nock from 'nock';
import { describe, expect, test } from 'vitest';

import { AbortedError, RateLimitedError } from '@dropcast/client';
import type { RequestAtGate, RequestGate } from '@dropcast/client';
import { openDaemonClient } from './daemon-client.ts';
import { base, mockExchanges } from './nocked.ts';
import { openClient } from './open-client.ts';

mockExchanges();

const open = (gate: Partial<RequestGate>) =>
  openDaemonClient(base, { requestGate: { pass: async () => {}, throttled: () => {}, ...gate } });

test('every JSON request passes the gate, with what it is and the priority of its call', async () => {
  await using opened = openDaemonClient(base);
  nock(base).get('/channels').reply(200, { data: [] }).get('/feeds').reply(200, { data: [] });
  await opened.client.channels.list({ priority: 'soon' });
  await opened.client.feeds.list();
  expect(opened.passed).toMatchObject([
    { operation: 'list channels', method: 'GET', path: '/channels', attempt: 1, priority: 'soon' },
    { operation: 'list feeds', method: 'GET', path: '/feeds', attempt: 1 },
  ]);
  expect(opened.passed[1]).not.toHaveProperty('priority');
});

test('a repetition passes the gate too', async () => {
  const attempts: number[] = [];
  const requestGate = { pass: async ({ attempt }: { attempt: number }) => void attempts.push(attempt), throttled() {} };
  await using opened = openClient(base, { requestGate });
  nock(base).get('/feeds').reply(500).get('/feeds').reply(200, { data: [] });
  await opened.client.feeds.list();
  expect(attempts).toEqual([1, 2]);
});

test('what the gate throws ends the call, and nothing is sent', async () => {
  await using opened = open({ pass: () => Promise.reject(new Error('the ledger is full')) });
  await expect(opened.client.videos.get('v')).rejects.toThrow('the ledger is full');
  expect(opened.notes).toEqual([]);
});

test('a call that is aborted while it waits at the gate sends nothing', async () => {
  const stop = new AbortController();
  await using opened = open({ pass: async () => stop.abort() });
  await expect(opened.client.videos.get('v', { signal: stop.signal })).rejects.toThrow(AbortedError);
  expect(opened.notes).toEqual([]);
});

test('closing the client ends the wait at the gate', async () => {
  const opened = open({
    pass: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new AbortedError('waiting')))),
  });
  const waiting = opened.client.videos.get('v').catch((error: unknown) => error);
  await opened[Symbol.asyncDispose]();
  expect(await waiting).toBeInstanceOf(AbortedError);
});

test.for([
  { gate: 'rejects with an error of its own', pass: ownError },
  { gate: 'ignores the signal', pass: () => new Promise<void>(() => {}) },
])('an aborted call rejects with AbortedError, also when the gate $gate', async ({ pass }) => {
  const stop = new AbortController();
  await using opened = open({ pass });
  const waiting = opened.client.videos.get('v', { signal: stop.signal });
  setImmediate(() => stop.abort());
  await expect(waiting).rejects.toThrow(AbortedError);
  expect(opened.notes).toEqual([]);
});

/** As timers of Node and many libraries wait. */
function ownError({ signal }: RequestAtGate): Promise<void> {
  return sleep(60_000, undefined, { signal });
}

test('a closed client asks the gate for nothing', async () => {
  const opened = openDaemonClient(base);
  await opened[Symbol.asyncDispose]();
  await expect(opened.client.videos.get('v')).rejects.toThrow(AbortedError);
  expect(opened.passed).toEqual([]);
});

test('an id that cannot be sent takes nothing from the budget', async () => {
  await using opened = openDaemonClient(base);
  await expect(opened.client.videos.delete('..')).rejects.toMatchObject({ code: 'invalid_id' });
  expect(opened.passed).toEqual([]);
});

test('a 429 is reported to the gate, with the wait that it asks for', async () => {
  await using opened = openDaemonClient(base);
  nock(base).get('/videos/v').reply(429, {}, { 'retry-after': '42' }).get('/videos/v').reply(429, {});
  await expect(opened.client.videos.get('v')).rejects.toThrow(RateLimitedError);
  await expect(opened.client.videos.get('v')).rejects.toThrow(RateLimitedError);
  expect(opened.throttled).toEqual([42_000, undefined]);
});

test('what an async listener for a 429 rejects with ends the call, not the process', async () => {
  const refusal = new Error('the ledger is full');
  const throttled: () => unknown = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    throw refusal;
  };
  await using opened = open({ throttled });
  nock(base).get('/videos/v').reply(429, {});
  await expect(opened.client.videos.get('v')).rejects.toBe(refusal);
});

describe('limits in the headers of an answer', () => {
  const limits = (left: number) => ({ 'x-ratelimit-remaining': String(left), 'x-ratelimit-reset': '60' });

  test.each([200, 404, 429, 503])('are reported with an answer of %i, before a 429 is', async (status) => {
    const heard: unknown[] = [];
    await using opened = open({
      reported: (report) => void heard.push(report),
      throttled: () => void heard.push('throttled'),
    });
    nock(base)
      .get('/feeds')
      .reply(status, { data: [] }, { ...limits(7), 'x-rate-limit-remaining': 'many' });
    await opened.client.feeds.list().catch(() => undefined);
    const report = {
      limits: [{ name: 'X-RateLimit ?', remaining: 7, resetMs: 60_000, isPolicyOnly: false }],
      ignored: ['X-Rate-Limit-Remaining: not a whole number'],
      unanswered: 0,
    };
    expect(heard).toEqual(status === 429 ? [report, 'throttled'] : [report]);
  });

  test('are not reported where there are none, or where no one listens', async () => {
    const heard: unknown[] = [];
    await using listening = open({ reported: (report) => void heard.push(report) });
    nock(base).get('/feeds').reply(200, { data: [] }).get('/channels').reply(200, { data: [] }, limits(5));
    await listening.client.feeds.list();
    await using deaf = open({});
    await deaf.client.channels.list();
    expect(heard).toEqual([]);
  });

  test('come with the number of unanswered requests; an answer to an older request is not reported', async () => {
    const heard: [remaining: number | undefined, unanswered: number][] = [];
    const report: RequestGate['reported'] = ({ limits: [first], unanswered }) =>
      void heard.push([first?.remaining, unanswered]);
    await using opened = open({ reported: report });
    nock(base)
      .get('/videos/old')
      .delay(50)
      .reply(200, { data: { id: 'old', status: 'ready' } }, limits(9));
    nock(base)
      .get('/videos/new')
      .reply(200, { data: { id: 'new', status: 'ready' } }, limits(8));
    await Promise.all([opened.client.videos.get('old'), opened.client.videos.get('new')]);
    nock(base)
      .get('/videos/last')
      .reply(200, { data: { id: 'last', status: 'ready' } }, limits(7));
    await opened.client.videos.get('last');
    expect(heard).toEqual([
      [8, 1],
      [7, 0],
    ]);
  });

  test('do not end the call if the gate throws', async () => {
    const warned = new Promise((resolve) => void process.once('warning', resolve));
    await using opened = open({
      reported: () => {
        throw new Error('no room in the books');
      },
    });
    nock(base).get('/feeds').reply(200, { data: [] }, limits(7));
    expect(await opened.client.feeds.list()).toEqual([]);
    expect(await warned).toMatchObject({ message: 'reported threw: no room in the books' });
  });
});
