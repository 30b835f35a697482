import { expect, test } from 'vitest';
import { openRecords } from '../../../packages/sandbox/src/store/records.ts';

const COUNT = 10_000;

/** Half of them in the channel ch_0, half of them pending. */
function manyVideos() {
  const { database, channels, videos } = openRecords(':memory:');
  for (const id of ['ch_0', 'ch_1']) channels.add({ id, name: id, slug: id, createdAtMs: 0 });
  database
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO videos (id, title, channel_id, tags, created_at_ms, status)
       SELECT 'vid_' || i, 'Title ' || i, 'ch_' || (i % 2), '[]', i, iif(i % 4 < 2, 'pending', 'failed') FROM n`,
    )
    .run(COUNT);
  return videos;
}

// What a page costs, deep in the list too, is measured by `npm run bench -- sandbox-lists`.
test('pages list each of 10,000 videos exactly once', () => {
  const videos = manyVideos();
  const filter = { channelId: 'ch_1', status: 'failed' } as const;
  for (const [wanted, count] of [[{}, COUNT] as const, [filter, COUNT / 4] as const]) {
    const seen = new Set<string>();
    for (let page = 1; page <= count / 100; page += 1) {
      const { videos: batch, total } = videos.page(wanted, page, 100);
      expect(total).toBe(count);
      for (const { id } of batch) seen.add(id);
    }
    expect(seen.size).toBe(count);
    expect(videos.page(wanted, count / 100 + 1, 100).videos).toEqual([]);
  }
});
