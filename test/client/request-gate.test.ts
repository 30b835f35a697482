import { setTimeout as sleep } from 'node:timers/promises';
import nock from 'nock';
import { expect, test } from 'vitest';

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
