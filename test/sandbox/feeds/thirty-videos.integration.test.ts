import { createHash } from 'node:crypto';
import { parseRssFeed } from 'feedsmith';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FeedType } from '../../../packages/sandbox/src/store/feeds.ts';
import { put, runSandbox, type RunningSandbox } from '../running-sandbox.ts';
import { distinctFiles } from './distinct-files.ts';
import { complaintsAbout } from './judges.ts';
import { hostileTexts } from './some-content.ts';

const COUNT = 30;
const CHANNELS = ['ch_main', 'ch_podcast'];
const FEEDS = [
  { id: 'feed_main', file: 'feed_main.xml', type: 'mrss', videos: 30 },
  { id: 'feed_podcast', file: 'feed_podcast.xml', type: 'podcast', videos: 20 },
  { id: 'feed_tv', file: 'feed_tv.json', type: 'ctv', videos: 15 },
  { id: 'feed_tv', file: 'feed_tv.json?profile=roku-search', type: 'roku-search', videos: 15 },
] as const satisfies readonly { id: string; file: string; type: FeedType | 'roku-search'; videos: number }[];

let service: RunningSandbox;
let ids: string[];
beforeAll(async () => {
  service = await runSandbox({ requestsPerHour: 10_000 });
  const files = await distinctFiles(COUNT);
  expect(new Set(files.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex'))).size).toBe(COUNT);
  ids = [];
  for (const [index, { name, bytes }] of files.entries()) {
    const hostile = hostileTexts[index % hostileTexts.length] ?? '';
    for (const channelId of CHANNELS) {
      const fields = {
        title: index < hostileTexts.length ? hostile : `word ${name} ${index}`,
        ...(index % 3 !== 0 && { description: hostile.repeat(1 + (index % 12)) }),
        ...(index % 2 === 0 && { tags: [Array.from(hostile).slice(0, 100).join(''), 'a, b', 'word'] }),
        channel_id: channelId,
      };
      const { id, upload_url: uploadUrl } = await service.create(fields);
      await put(uploadUrl, bytes);
      ids.push(id);
    }
  }
  expect((await Promise.all(ids.map((id) => service.ended(id)))).map(({ status }) => status)).toEqual(
    ids.map(() => 'ready'),
  );
  for (const { id, videos } of FEEDS)
    expect((await service.call('POST', `/feeds/${id}/publish`)).body.video_count).toBe(videos);
}, 60_000);
afterAll(() => service.sandbox.close());

const documentOf = async (file: string) => (await fetch(new URL(`/feeds/${file}`, service.sandbox.baseUrl))).text();

/** Every address in the feed of something that is served as a file. */
const addressesIn = (document: string, folder: string) =>
  new Set(document.match(new RegExp(String.raw`http://[^"]*/cdn/${folder}/[^"]*`, 'g')));

describe('feeds of 30 real videos', () => {
  test.each(FEEDS)('$file is valid for every judge', async ({ file, type, videos }) => {
    const document = await documentOf(file);
    expect(await complaintsAbout(document, type)).toEqual([]);
    const files = type === 'roku-search' ? addressesIn(document, 'thumbnails') : addressesIn(document, 'videos');
    expect(files.size).toBe(videos);
  });

  test('an independent reader finds the words of every title in both RSS feeds', async () => {
    for (const file of ['feed_main.xml', 'feed_podcast.xml'])
      for (const { title, media } of parseRssFeed(await documentOf(file)).items ?? []) {
        expect(title).toMatch(/wo\u0301?rd/);
        expect(title).not.toMatch(/^\s|\s$|\p{Cc}/u);
        if (media) expect(media.contents?.[0]?.title?.value).toBe(title);
      }
  });

  test('every enclosure answers HEAD and a Range with the length and type from the feed', async () => {
    for (const { enclosures } of parseRssFeed(await documentOf('feed_main.xml')).items ?? []) {
      const { url, length, type } = enclosures?.[0] ?? {};
      const head = await fetch(url ?? '', { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length'), head.headers.get('content-type')]).toEqual([
        200,
        String(length),
        type,
      ]);
      const range = await fetch(url ?? '', { headers: { range: 'bytes=10-109' } });
      expect([range.status, range.headers.get('content-range'), (await range.arrayBuffer()).byteLength]).toEqual([
        206,
        `bytes 10-109/${length}`,
        100,
      ]);
    }
  });

  test('every media address of the other feeds answers too', async () => {
    const documents = await Promise.all(FEEDS.map(({ file }) => documentOf(file)));
    const addresses = [...addressesIn(documents.join('\n'), 'videos')];
    expect(addresses).toHaveLength(50);
    for (const url of addresses) expect([url, (await fetch(url, { method: 'HEAD' })).status]).toEqual([url, 200]);
  });

  // Of the newest six, one of each kind: drawing thirty pictures takes its time.
  test('pictures answer HEAD with the type of their extension', async () => {
    const documents = await Promise.all(FEEDS.map(({ file }) => documentOf(file)));
    const thumbnails = [...addressesIn(documents.join('\n'), 'thumbnails')].slice(0, 6);
    const artwork = [...addressesIn(documents.join('\n'), 'artwork')];
    expect([thumbnails.length, artwork.length]).toEqual([6, 1]);
    for (const url of [...thumbnails, ...artwork]) {
      const head = await fetch(url, { method: 'HEAD' });
      const type = url.endsWith('.jpg') ? 'image/jpeg' : 'image/png';
      expect([url, head.status, head.headers.get('content-type')]).toEqual([url, 200, type]);
      expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
    }
  });

  test('a deleted video leaves all of them at once, and they stay valid', async () => {
    const [first = '', second = ''] = ids;
    await service.call('DELETE', `/videos/${first}`);
    await service.call('DELETE', `/videos/${second}`);
    for (const { file, type } of FEEDS) {
      const document = await documentOf(file);
      expect(document).not.toContain(first);
      expect(document).not.toContain(second);
      expect(await complaintsAbout(document, type)).toEqual([]);
    }
  });
});
