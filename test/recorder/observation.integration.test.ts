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
