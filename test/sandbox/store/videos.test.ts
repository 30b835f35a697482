import { expect, test } from 'vitest';
import { ChannelStore } from '../../../src/sandbox/store/channels.ts';
import { inTransaction, openDatabase } from '../../../src/sandbox/store/database.ts';
import { VideoStore } from '../../../src/sandbox/store/videos.ts';
import { playable } from '../playable.ts';

function storeWith(count: number): VideoStore {
  const database = openDatabase(':memory:');
  new ChannelStore(database).add({ id: 'ch', name: 'C', slug: 'c', createdAtMs: 0 });
  const videos = new VideoStore(database);
  const video = { title: 'T', description: 'd'.repeat(2000), channelId: 'ch', tags: [], sourceUrl: null };
  inTransaction(database, () => {
    for (let index = 0; index < count; index += 1)
      videos.create({ ...video, createdAtMs: index }, (number) => `vid_${number}`);
  });
  return videos;
}

test('of 10,000 videos the last page is read as fast as the first', () => {
  const videos = storeWith(10_000);
  const fastestMs = (page: number) =>
    Math.min(
      ...Array.from({ length: 15 }, () => {
        const startMs = performance.now();
        videos.page({ channelId: 'ch' }, page, 100);
        return performance.now() - startMs;
      }),
    );
  expect(videos.page({}, 100, 100).videos.at(-1)?.id).toBe('vid_1');
  // Reading the rows before the page (2 kB each) would take some 20 times as long; index entries take next to nothing.
  expect(fastestMs(100)).toBeLessThan(fastestMs(1) * 3 + 1);
});

test('videos created in the same millisecond keep their order', () => {
  const database = openDatabase(':memory:');
  new ChannelStore(database).add({ id: 'ch', name: 'C', slug: 'c', createdAtMs: 0 });
  const videos = new VideoStore(database);
  const video = { title: 'T', description: null, channelId: 'ch', tags: [], sourceUrl: null, createdAtMs: 5 };
  for (let index = 0; index < 5; index += 1) videos.create(video, (number) => `vid_${number}`);
  expect(videos.page({}, 1, 5).videos.map(({ id }) => id)).toEqual(['vid_5', 'vid_4', 'vid_3', 'vid_2', 'vid_1']);
});

test('only a pending video starts processing', () => {
  const videos = storeWith(2);
  const start = (videoId: string) =>
    videos.startProcessing({ videoId, sizeBytes: 1, sha256: 'x' }, playable, { nowMs: 0, dueAtMs: 0 });
  videos.fail('vid_1', { code: 'import_failed', message: 'gone' }, 0);
  expect(start('vid_1')).toBe(false);
  expect(videos.find('vid_1')?.status).toBe('failed');
  expect([start('vid_2'), start('vid_2'), start('vid_9')]).toEqual([true, false, false]);
});

test('the number of a deleted video is not used again', () => {
  const videos = storeWith(3);
  videos.remove('vid_3');
  const video = { title: 'T', description: null, channelId: 'ch', tags: [], sourceUrl: null, createdAtMs: 9 };
  expect(videos.create(video, (number) => `vid_${number}`)).toBe('vid_4');
});
