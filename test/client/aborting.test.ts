import nock from 'nock';
import { describe, expect, test } from 'vitest';

import { AbortedError } from '../../packages/client/src/errors.ts';
import { createBandwidth } from '../../packages/client/src/upload/bandwidth.ts';
import type { VideoClient } from '../../packages/client/src/video-client.ts';
import { failure, openClient } from './open-client.ts';
import { base, mockExchanges } from './nocked.ts';

mockExchanges();

const upload = (client: VideoClient, signal: AbortSignal): Promise<unknown> =>
  client.videos.send(
    { name: 'x.mp4', sizeBytes: 1, open: () => new Promise(() => {}) },
    { id: 'v', uploadUrl: 'http://127.0.0.1:9/u' },
    { signal },
  );

describe('an aborted call', () => {
  test.each<[string, (client: VideoClient, signal: AbortSignal) => Promise<unknown>]>([
    ['a read', (client, signal) => client.videos.get('v', { signal })],
    ['a list', (client, signal) => client.videos.list({}, { signal }).toArray()],
    ['a deletion', (client, signal) => client.videos.delete('v', { signal })],
    ['a wait', (client, signal) => client.videos.waitUntilReady('v', { signal })],
    ['an upload', upload],
  ])('has the reason of the signal as its cause: %s', async (_, call) => {
    await using opened = openClient(base);
    const reason = new Error('the tab was closed');
    const before = AbortSignal.abort(reason);
    const error = await failure(call(opened.client, before));
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.cause).toBe(reason);
  });

  test('has it in the middle of a wait, and keeps a reason that is no error', async () => {
    const stop = new AbortController();
    await using opened = openClient(base, { onSleep: () => stop.abort('enough') });
    nock(base).get('/videos/v').reply(200, { id: 'v', status: 'processing' });
    const error = await failure(opened.client.videos.waitUntilReady('v', { signal: stop.signal }));
    expect(error).toMatchObject({ code: 'aborted', cause: 'enough' });
  });

  test('tells a timeout of the caller from an abort', async () => {
    await using opened = openClient(base);
    const signal = AbortSignal.timeout(1);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    expect(await failure(opened.client.channels.list({ signal }))).toMatchObject({ cause: { name: 'TimeoutError' } });
  });

  test('says that the client was closed', async () => {
    const opened = openClient(base);
    await opened[Symbol.asyncDispose]();
    const error = await failure(opened.client.channels.list());
    expect(error).toMatchObject({ code: 'aborted', cause: { message: 'the client was closed' } });
  });

  test('has it while it waits for bandwidth', async () => {
    const bandwidth = createBandwidth(1);
    const reason = new Error('stopped');
    expect(await failure(bandwidth.take(10, AbortSignal.abort(reason)))).toMatchObject({ cause: reason });
  });
});
