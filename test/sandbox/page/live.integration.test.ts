import { request } from 'node:http';
import { expect, test } from 'vitest';
import { admin } from '../admin/admin-side.ts';
import { runSandbox } from '../running-sandbox.ts';
import { Visitor } from './visitor.ts';

/** Reads on until the text has come. */
async function readUntil(reader: ReadableStreamDefaultReader<string>, wanted: string): Promise<string> {
  let text = '';
  while (!text.includes(wanted)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended before ${wanted}: ${text}`);
    text += value;
  }
  return text;
}

test('it sends the types of events, and nothing else', async () => {
  await using service = await runSandbox();
  const visitor = await Visitor.enter(service.sandbox);
  const over = new AbortController();
  const reader = (await visitor.live(over.signal)).getReader();
  await readUntil(reader, 'event: ready');
  const { id } = await service.create({ title: 'A secret plan' });
  const text = await readUntil(reader, 'video.created');
  expect(text).toMatch(/event: changes\ndata: [\w. ]*video\.created[\w. ]*\n\n/);
  expect(text).not.toMatch(new RegExp(`${id}|secret`));
  over.abort();
});

test('sends at most four messages a second, however many events there are', async () => {
  await using service = await runSandbox({ requestsPerHour: 1e6 });
  const visitor = await Visitor.enter(service.sandbox);
  const over = new AbortController();
  const reader = (await visitor.live(over.signal)).getReader();
  await readUntil(reader, 'event: ready');
  const startMs = performance.now();
  for (let index = 0; index < 150; index += 1) await service.create();
  await service.call('PATCH', '/channels/ch_main', { name: 'The end' });
  const text = await readUntil(reader, 'channel.updated');
  const messages = text.match(/event: changes/g)?.length ?? 0;
  expect(messages).toBeLessThanOrEqual((performance.now() - startMs) / 250 + 2);
  over.abort();
});

test.each<[what: string, change: `${string} ${string}`, body: unknown, views: readonly string[]]>([
  ['the journal is cleared', 'DELETE /requests', undefined, ['/_page/requests', '/']],
  ['a state is saved', 'PUT /snapshots/one', undefined, ['/_page/controls']],
  ['the limit changes', 'PUT /rate-limit', { requests_per_hour: 7 }, ['/_page/controls', '/']],
  ['a point is settled', 'POST /profile/switches', { create_status: '202' }, ['/_page/controls']],
  ['a webhook is registered', 'POST /webhooks', { url: 'http://127.0.0.1:9/' }, ['/_page/webhooks']],
  ['a channel is made', 'POST /channels', { name: 'Made' }, ['/_page/videos', '/_page/analytics', '/_page/feeds']],
])('when %s, each view that shows it hears of it', async (_what, change, body, views) => {
  await using service = await runSandbox();
  const visitor = await Visitor.enter(service.sandbox);
  const over = new AbortController();
  const reader = (await visitor.live(over.signal)).getReader();
  await readUntil(reader, 'event: ready');
  await admin(service, change, body);
  const [, heard = ''] = /event: changes\ndata: (.*)\n/.exec(await readUntil(reader, 'event: changes')) ?? [];
  for (const view of views) {
    const [, wanted = ''] = /data-changes-with="([^"]*)"/.exec((await visitor.get(view)).html) ?? [];
    expect(
      wanted.split(' ').filter((type) => heard.split(' ').includes(type)),
      view,
    ).not.toEqual([]);
  }
  over.abort();
});

test('what changes nothing on the admin side is no event', async () => {
  await using service = await runSandbox();
  const visitor = await Visitor.enter(service.sandbox);
  const over = new AbortController();
  const reader = (await visitor.live(over.signal)).getReader();
  await readUntil(reader, 'event: ready');
  await admin(service, 'GET /state');
  await admin(service, 'PUT /rate-limit', { requests_per_hour: 'many' });
  const unmet = { expectations: [{ request: { operation: 'videos.create' } }] };
  expect(await admin(service, 'POST /verify', unmet)).toMatchObject({ status: 422 });
  await service.call('PATCH', '/channels/ch_main', { name: 'A mark' });
  expect(await readUntil(reader, 'channel.updated')).not.toContain('admin.changed');
  over.abort();
});

test('a request is heard of when it begins, and again when it ends', async () => {
  await using service = await runSandbox();
  const visitor = await Visitor.enter(service.sandbox);
  const { upload_url: address } = await service.create();
  const over = new AbortController();
  const reader = (await visitor.live(over.signal)).getReader();
  await readUntil(reader, 'event: ready');
  const upload = request(address, { method: 'PUT', headers: { 'content-length': 20 } });
  upload.on('response', (answer) => answer.resume());
  upload.write(new Uint8Array(10));
  await readUntil(reader, 'data: request\n');
  expect((await visitor.get('/_page/requests')).html).toContain('under way');
  upload.end(new Uint8Array(10));
  await readUntil(reader, 'request');
  over.abort();
});

test('an open view does not delay shutdown', async () => {
  const service = await runSandbox();
  const visitor = await Visitor.enter(service.sandbox);
  const reader = (await visitor.live(new AbortController().signal)).getReader();
  await readUntil(reader, 'event: ready');
  await service.sandbox.close();
  await expect(reader.read()).rejects.toThrow();
});

test('viewing the page causes no events', async () => {
  await using service = await runSandbox();
  const visitor = await Visitor.enter(service.sandbox);
  const { id } = await service.upload('clip.mp4');
  const over = new AbortController();
  const reader = (await visitor.live(over.signal)).getReader();
  await readUntil(reader, 'event: ready');
  for (const path of ['/', '/_page/videos', `/_page/videos/${id}`, `/embed/${id}`, `/cdn/thumbnails/${id}.jpg`])
    await visitor.get(path);
  await service.call('PATCH', '/channels/ch_main', { name: 'A mark' });
  const heard = /data: ([\w. ]*channel\.updated[\w. ]*)/.exec(await readUntil(reader, 'channel.updated'))?.[1];
  expect(heard?.split(' ').toSorted()).not.toContain('video.played');
  over.abort();
});
