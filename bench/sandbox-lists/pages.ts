import { join } from 'node:path';
import type * as theDatabase from '../../packages/sandbox/src/store/database.ts';
import type * as theRecords from '../../packages/sandbox/src/store/records.ts';
import type { VideoFilter, VideoStore } from '../../packages/sandbox/src/store/videos.ts';

// A process of its own, with the sandbox of the checkout that is measured: `node pages.ts ROOT MANY FEW`.

const [root = '', many = '', few = ''] = process.argv.slice(2);
const load = async <T>(file: string): Promise<T> => (await import(join(root, 'packages/sandbox/src/store', file))) as T;
const { inTransaction } = await load<typeof theDatabase>('database.ts');
const { openRecords } = await load<typeof theRecords>('records.ts');

/** With the share of all videos that it finds. */
const filters: Readonly<Record<string, readonly [filter: VideoFilter, share: number]>> = {
  all: [{}, 1],
  'of a channel': [{ channelId: 'ch_0' }, 0.5],
  'in a status': [{ status: 'pending' }, 0.5],
  'of a channel in a status': [{ channelId: 'ch_1', status: 'failed' }, 0.25],
};

const perPage = 100;
const [large, small] = [videosOf(Number(many)), videosOf(Number(few))];
const values: Record<string, number> = { walk: walkRatio() };
for (const [name, [filter, share]] of Object.entries(filters)) {
  const lastMs = fastestMs(large, filter, (share * Number(many)) / perPage);
  values[`${name} deep`] = lastMs / fastestMs(large, filter, 1);
  values[`${name} large`] = lastMs / fastestMs(small, filter, 1);
}
console.log(JSON.stringify(values));

/** Half of them in the channel ch_0, half of them pending. */
function videosOf(count: number): VideoStore {
  const { database, channels, videos } = openRecords(':memory:');
  for (const id of ['ch_0', 'ch_1']) channels.add({ id, name: id, slug: id, createdAtMs: 0 });
  inTransaction(database, () =>
    database
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO videos (id, title, description, channel_id, tags, created_at_ms, status, failure_code, failure_message)
         SELECT 'vid_' || i, 'Title ' || i, printf('%.1000c', 'd'), 'ch_' || (i % 2), '[]', i,
           iif(i % 4 < 2, 'pending', 'failed'), iif(i % 4 < 2, NULL, 'old'), iif(i % 4 < 2, NULL, 'Old.') FROM n`,
      )
      .run(count),
  );
  return videos;
}

function fastestMs(videos: VideoStore, filter: VideoFilter, page: number): number {
  return Math.min(...Array.from({ length: 15 }, () => timeMs(() => videos.page(filter, page, perPage))));
}

function walkRatio(): number {
  const pages = Number(many) / perPage;
  const timesMs = Array.from({ length: pages }, (_, index) => timeMs(() => large.page({}, index + 1, perPage)));
  return median(timesMs.slice(-pages / 10)) / median(timesMs.slice(0, pages / 10));
}

function timeMs(work: () => unknown): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
