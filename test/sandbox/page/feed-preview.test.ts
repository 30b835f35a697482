import { expect, test } from 'vitest';
import { ctvDocument } from '../../../packages/sandbox/src/feeds/ctv.ts';
import { mrssDocument } from '../../../packages/sandbox/src/feeds/mrss.ts';
import { podcastDocument } from '../../../packages/sandbox/src/feeds/podcast.ts';
import { previewOf } from '../../../packages/sandbox/src/page/feed-preview.ts';
import { someContent } from '../feeds/some-content.ts';

const ITEM = { id: 'vid_2', title: 'A clip', seconds: 4 };

test('of an MRSS document it shows title, picture, length and type of each item', () => {
  const items = previewOf(mrssDocument(someContent()), 'mrss');
  expect(items[0]).toMatchObject({
    ...ITEM,
    picture: 'http://127.0.0.1:8080/cdn/thumbnails/vid_2.jpg',
    media: 'video/mp4',
  });
  expect(items[0]?.published).toBe('Fri, 30 Jan 2026 09:05:00 GMT');
  expect(items.map(({ title }) => title)).toEqual(['A clip', 'The first']);
});

test('of a podcast the artwork of the channel', () => {
  const [item] = previewOf(podcastDocument(someContent()), 'podcast');
  expect(item).toMatchObject({ ...ITEM, picture: 'http://127.0.0.1:8080/cdn/artwork/ch_main.jpg' });
});

test('of a CTV document the short films and the long ones', () => {
  const long = { ...someContent().items[0]!, media: { ...someContent().items[0]!.media, durationS: 3600 } };
  const items = previewOf(ctvDocument(someContent({ items: [long, someContent().items[1]!] })), 'ctv');
  expect(items.map(({ id, seconds }) => [id, seconds])).toEqual([
    ['vid_1', 4],
    ['vid_2', 3600],
  ]);
});

test('a malformed document has no preview; its verdict says why', () => {
  expect(previewOf('<rss><channel>', 'mrss')).toEqual([]);
});
