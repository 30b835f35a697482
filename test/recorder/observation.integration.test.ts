import { compare, Observation } from '@dropcast/recorder';
import type { RecordedExchange } from '@dropcast/recorder';
import { createVideoClient, type VideoClient } from '@dropcast/client';
import { expect, test } from 'vitest';
import type { SandboxOptions } from '../../packages/sandbox/src/options.ts';
import { startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { clientAt, recorded } from './recorded.ts';

const clip = new URL('../media/clip.mp4', import.meta.url).pathname;

async function live({ videos }: VideoClient): Promise<void> {
  const { id } = await videos.upload(clip, { title: 'T', channelId: 'ch_news' }, { maxRetries: 0 });
  await videos.waitUntilReady(id);
  await videos.delete(id);
  await videos.get(id).catch(() => null);
}

/** Members that a recording and an observation have in common; Node adds headers for the connection. */
const essence = ({ method, target, answer, interim, upload }: RecordedExchange): object => ({
  method,
  target: target.replace(/vid_\w+/, 'ID'),
  status: answer?.status,
  body: answer?.body !== undefined && 'json' in answer.body,
  interim,
  upload: upload !== undefined,
});

test.each<[string, SandboxOptions]>([
  ['default', {}],
  ['signed-without-type', { profile: 'signed-without-type' }],
  ['wrapped, with headers', { profile: 'required-headers' }],
  ['tus', { profile: 'tus' }],
  ['resumable-sessions', { profile: 'resumable-sessions' }],
  ['upload addresses elsewhere', { uploadOrigin: 'separate' }],
])('what a client observes is what a recorder records, without secrets: %s', async (_, options) => {
  await using sandbox = await startSandbox({ processingMs: { min: 1, max: 1 }, seed: 7, ...options });
  const { recording } = await recorded(sandbox.baseUrl, async (recorder) => {
    await using client = clientAt(recorder, sandbox.apiKey);
    await live(client);
  });
  await sandbox.reset();
  const observation = new Observation(sandbox.baseUrl);
  const addresses: string[] = [];
  await using client = createVideoClient({
    ...sandbox.client,
    proxyEnv: {},
    maxRetries: 0,
    onExchange: (exchange) => {
      if (exchange.method === 'PUT') addresses.push(exchange.url);
      observation.note(exchange);
    },
  });
  await live(client);
  expect(observation.exchanges.map(essence)).toEqual(recording.exchanges.map(essence));
  expect(compare(observation.exchanges).switches).toEqual(compare(recording.exchanges).switches);
  const text = JSON.stringify(observation.exchanges);
  expect(addresses.length).toBeGreaterThan(0);
  for (const secret of [sandbox.apiKey, ...addresses.map((address) => address.split('/').at(-1) ?? '')])
    expect(text).not.toContain(secret);
  expect(observation.exchanges.find(({ upload }) => upload)?.upload?.origin).toBe(sandbox.uploadOrigin);
});

test('a key that the service repeats is hidden in address, headers and body', () => {
  const observation = new Observation('https://video.example.com/v1');
  const key = 'live-0123456789-abcdef';
  observation.note({
    at: 0,
    ms: 1,
    method: 'GET',
    url: `https://video.example.com/v1/videos/${key}`,
    interim: [],
    status: 404,
    requestHeaders: { authorization: `Bearer ${key}` },
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { code: 'not_found', message: `No ${key} here` } }),
  });
  expect(JSON.stringify(observation.exchanges)).not.toContain(key);
  expect(observation.exchanges[0]?.target).toBe('/v1/videos/[hidden key 1]');
});

test.each(['https://other.example.com/v1/x', 'https://video.example.com/v12/videos', 'https://video.example.com/up'])(
  'an address outside the API that no answer contained is an upload of no known video: %s',
  (url) => {
    const observation = new Observation('https://video.example.com/v1/');
    observation.note({
      at: 0,
      ms: 1,
      method: 'PUT',
      url,
      interim: [],
      status: 308,
      requestHeaders: {},
      headers: {},
      body: '',
    });
    expect(observation.exchanges).toMatchObject([
      { target: '/uploads/unknown/0', upload: { origin: new URL(url).origin } },
    ]);
  },
);
