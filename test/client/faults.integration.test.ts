import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

import type { VideoClient } from '../../packages/client/src/video-client.ts';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import type { RunningSandbox } from '../sandbox/running-sandbox.ts';
import { admin } from './admin-side.ts';
import { failure, openClient } from './open-client.ts';
import type { OpenedClient } from './open-client.ts';

const clip = fileURLToPath(new URL('../media/clip.mp4', import.meta.url));
const fields = { title: 'A clip', channelId: 'ch_news' };

/** Plans the faults, and opens a client whose waits take no time. */
async function openWith(
  { sandbox }: RunningSandbox,
  faults: readonly object[],
  timeoutMs = 60_000,
): Promise<OpenedClient> {
  await admin(sandbox, 'PUT', '/faults', faults);
  return openClient(sandbox.baseUrl, { apiKey: sandbox.apiKey, timeoutMs });
}

/** For what never answers: long enough for the answers of a busy machine. */
const impatientMs = 3_000;

// Mostly waiting.
describe.concurrent('while the sandbox injects faults', () => {
  test.each<[string, object, number?]>([
    ['with a 500', { kind: 'status', status: 500 }],
    ['with a 408', { kind: 'status', status: 408 }],
    ['with the web page of a proxy', { kind: 'html_502' }],
    ['with a 429', { kind: 'rate_limited', seconds: 30 }],
    ['with a 429 and a date', { kind: 'rate_limited', retry_after: 'date', seconds: 30 }],
    ['with a 429 that says nothing', { kind: 'rate_limited', retry_after: 'absent' }],
    ['with a 429 that says nonsense', { kind: 'rate_limited', retry_after: 'absurd' }],
    ['by losing the answer', { kind: 'answer_lost' }],
    ['by breaking the answer off', { kind: 'reset', of: 'answer', after_bytes: 5 }],
    ['by being late', { kind: 'delay', ms: 60_000 }, impatientMs],
    ['by standing still in the middle of the answer', { kind: 'stall', of: 'answer', after_bytes: 5 }, impatientMs],
  ])('%s, what may be repeated is done again', async (_, fault, timeoutMs) => {
    await using running = await runSandbox();
    const calls: [string, (client: VideoClient, id: string) => Promise<unknown>][] = [
      ['videos.get', (client, id) => client.videos.get(id)],
      ['videos.list', (client) => client.videos.list().toArray()],
      ['videos.update', (client, id) => client.videos.update(id, { title: 'T' })],
      ['channels.list', (client) => client.channels.list()],
      ['channels.update', (client) => client.channels.update('ch_news', { name: 'N' })],
      ['feeds.list', (client) => client.feeds.list()],
      ['feeds.publish', (client) => client.feeds.publish('feed_news')],
      ['videos.delete', (client, id) => client.videos.delete(id)],
    ];
    const { id } = await running.create();
    const faults = calls.map(([operation]) => ({ ...fault, operation, nth: 1 }));
    await using opened = await openWith(running, faults, timeoutMs);
    const expectAll = (some: typeof calls) =>
      Promise.all(some.map(([operation, call]) => expect(call(opened.client, id), operation).resolves.not.toThrow()));
    await expectAll(calls.slice(0, -1));
    await expectAll(calls.slice(-1)); // Deleted last, as the others need it.
    // The answer to a deletion has no body, in which it could break off.
    expect(opened.sleeps.length).toBeGreaterThanOrEqual(calls.length - 1);
  });

  test.each<[string, object, number]>([
    ['the connection is dropped after the record is made', { kind: 'drop_after_create' }, 1],
    ['the answer is lost', { kind: 'answer_lost' }, 1],
    ['the answer is cut', { kind: 'truncated_json' }, 1],
    ['a 500 is answered', { kind: 'status', status: 500 }, 0],
    ['a redirect is answered', { kind: 'redirect' }, 0],
  ])('creating is requested once when %s', async (_, fault, records) => {
    await using running = await runSandbox();
    await using opened = await openWith(running, [{ operation: 'videos.create', ...fault }]);
    await failure(opened.client.videos.create(fields));
    expect(opened.requests).toHaveLength(1);
    expect(await opened.client.videos.list().toArray()).toHaveLength(records);
  });

  test.each<[string, object]>([
    ['is answered 503', { kind: 'status', status: 503 }],
    ['is answered 429', { kind: 'rate_limited', seconds: 30 }],
    ['breaks in the middle', { kind: 'reset', of: 'request', after_bytes: 50_000 }],
    ['stands still in the middle', { kind: 'stall', of: 'request', after_bytes: 50_000 }],
    ['arrives, but the answer is lost', { kind: 'answer_lost' }],
  ])('a file whose PUT %s is still uploaded, and once', async (_, fault) => {
    await using running = await runSandbox();
    await using opened = await openWith(running, [{ operation: 'uploads.put', nth: 1, ...fault }]);
    // Long enough for a busy machine, which also answers late; every fault but the standstill ends by itself.
    const impatient = { stallTimeoutMs: 5000, answerTimeoutMs: 5000 };
    const { id, sha256 } = await opened.client.videos.upload(clip, fields, impatient);
    expect(running.sandbox.files()).toMatchObject([{ videoId: id, sha256 }]);
    expect(await opened.client.videos.waitUntilReady(id, { waitMs: 100_000 })).toMatchObject({ status: 'ready' });
    expect(await opened.client.videos.list().toArray()).toHaveLength(1);
  });

  test('an address that has expired is the end of an upload', async () => {
    await using running = await runSandbox();
    await using opened = await openWith(running, [{ kind: 'expired_address' }]);
    expect(await failure(opened.client.videos.upload(clip, fields))).toMatchObject({ name: 'AddressDeadError' });
  });

  test('an unknown status and unknown fields do not end a wait', async () => {
    await using running = await runSandbox();
    await using opened = await openWith(running, [
      { kind: 'unknown_status', operation: 'videos.get', times: 2 },
      { kind: 'extra_fields' },
    ]);
    const { id } = await opened.client.videos.upload(clip, fields);
    await running.ended(id);
    const statuses: string[] = [];
    await opened.client.videos.waitUntilReady(id, { onStatus: (status) => void statuses.push(status) });
    expect(statuses.at(-1)).toBe('ready');
  });
});
