import type { Bench } from './bench.ts';
import { inTransaction } from '../packages/sandbox/src/store/database.ts';
import { openRecords } from '../packages/sandbox/src/store/records.ts';
import type { VideoFilter, VideoStore } from '../packages/sandbox/src/store/videos.ts';

const MANY = 100_000;
const FEW = 1000;

const FILTERS: readonly (readonly [name: string, filter: VideoFilter, lastPage: number])[] = [
  ['all', {}, 1000],
  ['of a channel', { channelId: 'ch_0' }, 500],
  ['in a status', { status: 'pending' }, 500],
  ['of a channel in a status', { channelId: 'ch_1', status: 'failed' }, 250],
];

export const bench: Bench = {
  about: `A page of 100 videos of the sandbox's list: the last of ${MANY} videos against the first, and against the first of ${FEW} videos.`,
  rounds: 3,
  rows: {
    ...Object.fromEntries(
      FILTERS.flatMap(([name]) => [
        [`${name} deep`, { what: `${name}: last page against the first`, unit: '×' }],
        [`${name} large`, { what: `${name}: against the first of ${FEW} videos`, unit: '×' }],
      ]),
    ),
    walk: { what: 'page by page: the last tenth against the first', unit: '×' },
  },
  round: async () => {
    const many = videosOf(MANY);
    const few = videosOf(FEW);
    const values: Record<string, number> = { walk: walkRatio(many) };
    for (const [name, filter, lastPage] of FILTERS) {
      const lastMs = fastestMs(many, filter, lastPage);
      values[`${name} deep`] = lastMs / fastestMs(many, filter, 1);
      values[`${name} large`] = lastMs / fastestMs(few, filter, 1);
    }
    return { values };
  },
};

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
  return Math.min(...Array.from({ length: 15 }, () => timeMs(() => videos.page(filter, page, 100))));
}

function walkRatio(videos: VideoStore): number {
  const pages = MANY / 100;
  const timesMs = Array.from({ length: pages }, (_, index) => timeMs(() => videos.page({}, index + 1, 100)));
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
