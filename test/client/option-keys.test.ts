import { describe, expect, test } from 'vitest';

import { createVideoClient } from '../../packages/client/src/create-video-client.ts';
import type { VideoClient } from '../../packages/client/src/video-client.ts';
import { failure } from './open-client.ts';

const good = { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'sk_0123456789', proxyEnv: {} };

/** Arguments that a program without types could pass. */
type Untyped = Record<string, Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

const calls: readonly [method: string, args: readonly unknown[], message: string][] = [
  ['videos.create', [{ title: 'x', chanelId: 'c' }], 'does not know "chanelId": did you mean channelId?'],
  ['videos.create', [{ title: 'x', channel_id: 'c' }], 'does not know "channel_id": did you mean channelId?'],
  ['videos.create', [{ title: 'x', sourceUrl: 'https://a.example' }], 'does not know "sourceUrl": its keys are title'],
  ['videos.create', [{ title: 'x' }, { idempotencykey: 'k' }], 'does not know "idempotencykey": did you mean idempo'],
  ['videos.create', [], 'needs an object here, with keys of title, description, tags, channelId'],
  ['videos.import', ['https://a.example/a.mp4', { titel: 'x' }], 'does not know "titel": did you mean title?'],
  ['videos.update', ['vid_1', { titel: 'x' }], 'does not know "titel": did you mean title?'],
  ['videos.get', ['vid_1', { timeout: 1 }], 'does not know "timeout": did you mean timeoutMs?'],
  ['videos.get', ['vid_1', null], 'needs an object here'],
  ['videos.delete', ['vid_1', { maxRetry: 1 }], 'does not know "maxRetry": did you mean maxRetries?'],
  ['videos.upload', ['a.mp4', { title: 'x', tag: [] }], 'does not know "tag": did you mean tags?'],
  ['videos.upload', ['a.mp4', { title: 'x' }, { oncreated: 1 }], 'does not know "oncreated": did you mean onCreated?'],
  ['videos.send', ['a.mp4', {}, { onCreated: 1 }], 'does not know "onCreated"'],
  ['videos.waitUntilReady', ['vid_1', { interval: 1 }], 'does not know "interval": did you mean intervalMs?'],
  ['channels.list', [{ page: 1 }], 'does not know "page": its keys are signal'],
  [
    'channels.update',
    ['ch_1', { default_player_settings: {} }],
    'does not know "default_player_settings": did you mean defaultPlayerSettings?',
  ],
  ['feeds.list', [{ abort: 1 }], 'does not know "abort"'],
  ['feeds.publish', ['feed_1', { timeoutms: 1 }], 'does not know "timeoutms": did you mean timeoutMs?'],
  ['analytics.video', ['vid_1', { form: '2026-01-01' }], 'does not know "form": did you mean from?'],
  ['analytics.overview', [{ channel: 'c' }], 'does not know "channel": did you mean channelId?'],
];

describe('a key that a call does not know', () => {
  test.each(calls)('rejects %s %j', async (method, args, message) => {
    await using client = createVideoClient(good);
    const [group = '', name = ''] = method.split('.');
    const error = await failure((client as unknown as Untyped)[group]?.[name]?.(...args) ?? Promise.resolve());
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(`${method} ${message}`);
  });

  test.each<[(client: VideoClient) => unknown, string]>([
    [
      (client) => client.videos.list({ stat: 'ready' } as object),
      'videos.list does not know "stat": did you mean status?',
    ],
    [(client) => client.videos.list({}, { limit: 5 } as object), 'videos.list does not know "limit"'],
    [(client) => client.analytics.videos({ perPage: 5 } as object), 'analytics.videos does not know "perPage"'],
  ])('is thrown by a list at once: %s', async (list, message) => {
    await using client = createVideoClient(good);
    expect(() => list(client)).toThrow(message);
    expect(await failure(client.videos.list().toArray({ most: 5 } as object))).toBeInstanceOf(TypeError);
  });

  test.each([
    [{ ...good, maxRetry: 1 }, 'createVideoClient does not know "maxRetry": did you mean maxRetries?'],
    [{ ...good, base_url: 'sk_0123456789' }, 'createVideoClient does not know "base_url": did you mean baseUrl?'],
    [{ ...good, ['x'.repeat(100_000)]: 1 }, /^createVideoClient does not know "x{60}": its keys are baseUrl, /],
    [undefined, 'createVideoClient needs an object here, with keys of baseUrl, apiKey'],
  ])('is refused by createVideoClient: %#', (options, message) => {
    expect(() => createVideoClient(options as typeof good)).toThrow(message);
    expect(() => createVideoClient(options as typeof good)).toThrow(TypeError);
  });
});
