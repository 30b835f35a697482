import { expect, test } from 'vitest';
import { openRecords } from '../../../packages/sandbox/src/records.ts';
import { inTransaction } from '../../../packages/sandbox/src/store/database.ts';
import type { VideoFilter, VideoStore } from '../../../packages/sandbox/src/store/videos.ts';

const COUNT = 100_000;

/** Every second one is of the channel ch_0, every second one pending. */
function libraryOf(count: number): VideoStore {
  const { database, channels, videos } = openRecords(':memory:');
  for (const id of ['ch_0', 'ch_1']) channels.add({ id, name: id, slug: id, createdAtMs: 0 });
  inTransaction(database, () =>
    database
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO videos (id, title, description, channel_id, tags, created_at_ms, status)
         SELECT 'vid_' || i, 'Title ' || i, printf('%.1000c', 'd'), 'ch_' || (i % 2), '[]', i, iif(i % 4 < 2, 'pending', 'failed') FROM n`,
      )
      .run(count),
  );
  return videos;
}

/** Of 100 videos, in ms. */
function pageTimes(videos: VideoStore, filter: VideoFilter, page: number): number {
  const times = Array.from({ length: 15 }, () => {
    const startMs = performance.now();
    expect(videos.page(filter, page, 100).videos).toHaveLength(100);
    return performance.now() - startMs;
  });
  return Math.min(...times);
}

const videos = libraryOf(COUNT);
const few = libraryOf(1000);

test.each<[string, VideoFilter, number]>([
  ['all', {}, 1000],
  ['those of a channel', { channelId: 'ch_0' }, 500],
  ['those in a status', { status: 'pending' }, 500],
  ['those of a channel in a status', { channelId: 'ch_1', status: 'failed' }, 250],
])(
  'of 100,000 videos, the last page of %s takes no longer than the first, and than that of 1,000',
  (_what, filter, lastPage) => {
    expect(videos.page(filter, lastPage + 1, 100).videos).toEqual([]);
    // The index entries before a page and the count of all take some microseconds per thousand; sorting or reading the rows takes 50 ms.
    const lastMs = pageTimes(videos, filter, lastPage);
    expect(lastMs).toBeLessThan(pageTimes(videos, filter, 1) * 3 + 2);
    expect(lastMs).toBeLessThan(pageTimes(few, filter, 1) * 3 + 6);
  },
);

test('of 100,000 videos, read page by page, the last pages take no longer than the first, and each video comes once', () => {
  const lastPage = COUNT / 100;
  const fastestMs = Array.from({ length: lastPage }, () => Infinity);
  for (let walk = 0; walk < 3; walk += 1) {
    const seen = new Set<string>();
    for (let page = 1; page <= lastPage; page += 1) {
      const startMs = performance.now();
      const { videos: batch, total } = videos.page({}, page, 100);
      fastestMs[page - 1] = Math.min(fastestMs[page - 1] ?? Infinity, performance.now() - startMs);
      expect(total).toBe(COUNT);
      for (const { id } of batch) seen.add(id);
    }
    expect(seen.size).toBe(COUNT);
  }
  expect(videos.page({}, lastPage + 1, 100).videos).toEqual([]);
  const median = (times: readonly number[]) =>
    times.toSorted((one, other) => one - other)[times.length >> 1] ?? Infinity;
  // With OFFSET the last ones take twice as long and more.
  expect(median(fastestMs.slice(-100))).toBeLessThan(median(fastestMs.slice(0, 100)) * 1.5);
});
