import { expect, test } from 'vitest';
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
