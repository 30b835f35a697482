import nock from 'nock';
import { afterAll, expect, test } from 'vitest';
import { AbortedError } from '@dropcast/client';
import type { RateLimitReport } from '@dropcast/client';
import { failureOfFile } from '../../src/disk/failure.ts';
import { uploadSource } from '../../src/disk/accepted-file.ts';
import type { Gate } from '../../src/host/gate.ts';
import { budgetOf, clientGateOf, createUnsentCreates } from '../../src/host/request-gate.ts';
import { createVideoHost } from '../../src/host/video-host.ts';
import type { VideoHost, VideoLibrary } from '../../src/pipeline/file/ports.ts';
import { openDaemonClient } from '../client/daemon-client.ts';
import { base, mockExchanges } from '../client/nocked.ts';
import { someFacts } from '../pipeline/some-facts.ts';

const { signal } = new AbortController();
const page = { data: [], meta: { page: 1, per_page: 100, total: 0 } };
const video = { data: { id: 'vid_1', status: 'pending' } };

mockExchanges();
afterAll(() => nock.enableNetConnect());

const noneUnsent = () => createUnsentCreates(() => 0);

/** A gate that lets everything through and remembers what for. */
function countingGate() {
  const taken: string[] = [];
  const throttled: (number | undefined)[] = [];
  const gate: Pick<Gate, 'take' | 'throttled'> = {
    take: async (priority) => void taken.push(priority),
    throttled: (ms) => void throttled.push(ms),
  };
  return { gate: gate as Gate, taken, throttled };
}

function open(gate: Gate) {
  const opened = openDaemonClient(base, { requestGate: clientGateOf(gate, noneUnsent(), () => {}), maxRetries: 2 });
  const host = createVideoHost({
    client: () => opened.client,
    sourceOf: (facts, alsoHash) => uploadSource(facts, () => true, alsoHash),
    failureOfFile,
    stallTimeoutMs: () => 5000,
    howToRenewKey: () => 'a new key',
  });
  return { host, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

interface Call {
  readonly call: string;
  readonly of: (host: VideoHost & VideoLibrary) => Promise<unknown>;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly answer?: object;
  readonly taken: readonly string[];
}

const calls: readonly Call[] = [
  // Paid for by the pipeline, before its intent is written.
  {
    call: 'create',
    of: (host) => host.create(someFacts(), 'token', signal),
    method: 'POST',
    path: '/videos',
    answer: { id: 'vid_1', upload_url: 'https://upload.example.com/u', status: 'pending' },
    taken: [],
  },
  {
    call: 'status',
    of: (host) => host.status('v', signal),
    method: 'GET',
    path: '/videos/v',
    answer: video,
    taken: ['finish'],
  },
  { call: 'remove', of: (host) => host.remove('v', signal), method: 'DELETE', path: '/videos/v', taken: ['finish'] },
  {
    call: 'amend',
    of: (host) => host.amend(someFacts({ videoId: 'v', amendment: { title: 'T' } }), signal),
    method: 'PATCH',
    path: '/videos/v',
    taken: ['finish'],
  },
  {
    call: 'publish',
    of: (host) => host.publish('f', signal),
    method: 'POST',
    path: '/feeds/f/publish',
    taken: ['finish'],
  },
  { call: 'list', of: (host) => host.list(1, signal), method: 'GET', path: '/videos', answer: page, taken: ['poll'] },
  {
    call: 'get',
    of: (host) => host.get('v', signal),
    method: 'GET',
    path: '/videos/v',
    answer: video,
    taken: ['poll'],
  },
];

test.for(calls)('$call passes the gate as $taken', async ({ of, method, path, answer, taken }) => {
  const counting = countingGate();
  await using opened = open(counting.gate);
  nock(base)
    .intercept(path, method)
    .query(true)
    .reply(200, answer ?? {});
  expect(await of(opened.host)).toMatchObject({ ok: true });
  expect(counting.taken).toEqual(taken);
  expect(counting.throttled).toEqual([]);
});

test.for(calls)(
  '$call that is answered 429 moves the gate once and is not repeated',
  async ({ of, method, path, taken }) => {
    const counting = countingGate();
    await using opened = open(counting.gate);
    nock(base).intercept(path, method).query(true).reply(429, {}, { 'retry-after': '7' });
    expect(await of(opened.host)).toMatchObject({ ok: false, failure: { kind: 'throttled', retryAfterMs: 7000 } });
    expect(counting.taken).toEqual(taken);
    expect(counting.throttled).toEqual([7000]);
  },
);

test.for(calls)('$call that is answered 503 is not repeated', async ({ of, method, path, taken }) => {
  const counting = countingGate();
  await using opened = open(counting.gate);
  nock(base).intercept(path, method).query(true).reply(503);
  expect(await of(opened.host)).toMatchObject({ ok: false, failure: { kind: 'transient', inDoubt: true } });
  expect(counting.taken).toEqual(taken);
});

test.for([undefined, 'low', 'Finish'])('the priority %j is the least urgent', async (priority) => {
  const { gate, taken } = countingGate();
  const request = { operation: 'o', method: 'GET', path: '/', attempt: 1, signal };
  await clientGateOf(gate, noneUnsent(), () => {}).pass({ ...request, ...(priority !== undefined && { priority }) });
  expect(taken).toEqual(['poll']);
});

test('limits in an answer reach the gate, and each kind of nonsense is reported once', async () => {
  const { gate } = countingGate();
  const reported: unknown[] = [];
  const told: string[] = [];
  const lowered = { ...gate, reported: ({ limits }: RateLimitReport) => void reported.push(limits[0]?.remaining) };
  await using opened = openDaemonClient(base, {
    requestGate: clientGateOf(lowered, noneUnsent(), (header) => told.push(header)),
  });
  for (const [remaining, reset] of [
    ['5', '60'],
    ['many', '60'],
    ['4', 'soon'],
    ['few', '60'],
  ] as const) {
    nock(base)
      .get('/feeds')
      .reply(200, { data: [] }, { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset });
    await opened.client.feeds.list();
  }
  expect(reported).toEqual([5, undefined, undefined, undefined]);
  expect(told).toEqual(['X-RateLimit-Remaining: not a whole number', 'X-RateLimit-Reset: not a time']);
});

test('a create that was counted and has not left is unanswered, for a minute', async () => {
  let now = 0;
  const unsent = createUnsentCreates(() => now);
  const reported: number[] = [];
  const { gate } = countingGate();
  const counting = { ...gate, reported: ({ unanswered }: RateLimitReport) => void reported.push(unanswered) };
  const budget = budgetOf(counting, unsent);
  const { pass, reported: hear } = clientGateOf(counting, unsent, () => {});
  const create = { operation: 'o', method: 'POST', path: '/', attempt: 1, signal, priority: 'create' };
  const listen = () => hear?.({ limits: [], ignored: [], unanswered: 2 });
  for (let n = 0; n < 3; n += 1) await budget.take('create', signal);
  await budget.take('poll', signal);
  listen();
  await pass(create);
  listen();
  now = 60_000;
  await budget.take('create', signal);
  listen();
  expect(reported).toEqual([5, 4, 3]);
});

test('a budget that is closed grants nothing; one that cannot be written says why', async () => {
  const refusing = (error: Error): Gate => {
    const take = async (): Promise<void> => {
      throw error;
    };
    return { ...countingGate().gate, take };
  };
  expect(await budgetOf(countingGate().gate, noneUnsent()).take('create', signal)).toBe(true);
  expect(await budgetOf(refusing(new AbortedError('waiting')), noneUnsent()).take('create', signal)).toBe(false);
  await expect(budgetOf(refusing(new Error('disk full')), noneUnsent()).take('create', signal)).rejects.toThrow(
    'disk full',
  );
});

test('a 429 for a spent quota of videos holds up no other request', async () => {
  const { gate, throttled } = countingGate();
  await using opened = open(gate);
  const headers = { 'retry-after': '9000' };
  nock(base)
    .post('/videos')
    .reply(429, { error: { code: 'daily_limit_reached', message: 'm' } }, headers);
  nock(base)
    .post('/videos')
    .reply(429, { error: { code: 'rate_limited', message: 'm' } }, headers);
  const quota = await opened.host.create(someFacts(), 't', signal);
  expect(quota).toMatchObject({ failure: { code: 'daily_limit_reached', retryAfterMs: 9_000_000 } });
  expect(throttled).toEqual([]);
  await opened.host.create(someFacts(), 't', signal);
  expect(throttled).toEqual([9_000_000]);
});
