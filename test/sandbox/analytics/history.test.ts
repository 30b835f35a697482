import { expect, test } from 'vitest';
import { seedHistory } from '../../../packages/sandbox/src/analytics/history.ts';
import { DAY_MS, periodOf } from '../../../packages/sandbox/src/analytics/period.ts';
import { addVideo, newAccount, NOON } from './account.ts';

const PERIOD = periodOf({}, NOON);
const isWanted = () => true;

async function seeded({ seed = 7, days = 30, nowMs = NOON, videos = 12 } = {}) {
  const account = newAccount();
  for (let index = 0; index < videos; index += 1)
    addVideo(account.records, `vid_${index}`, { createdAtMs: NOON - 60 * DAY_MS });
  return { ...account, added: await seedHistory({ records: account.records, nowMs, seed, days, isWanted }) };
}

const rowsOf = ({ records }: Awaited<ReturnType<typeof seeded>>) =>
  records.database.prepare('SELECT * FROM plays ORDER BY id').all();

test('the same seed makes the same plays, another seed others', async () => {
  expect(rowsOf(await seeded())).toEqual(rowsOf(await seeded()));
  expect(rowsOf(await seeded({ seed: 8 }))).not.toEqual(rowsOf(await seeded()));
});

test('returns how many plays it added, all within the given days and none in the future', async () => {
  const account = await seeded({ days: 10 });
  const { lowest, highest, total } = account.records.database
    .prepare('SELECT MIN(started_at_ms) AS lowest, MAX(started_at_ms) AS highest, COUNT(*) AS total FROM plays')
    .get() as Record<string, number>;
  expect(account.added).toBe(total);
  expect(account.added).toBeGreaterThan(100);
  expect(lowest).toBeGreaterThanOrEqual(Date.parse('2026-10-26T00:00:00Z'));
  expect(highest).toBeLessThanOrEqual(NOON);
});

test('a second call adds nothing in the same minute, and later only what has come due', async () => {
  const { records } = await seeded();
  expect(await seedHistory({ records, nowMs: NOON, seed: 7, days: 30, isWanted })).toBe(0);
  expect(await seedHistory({ records, nowMs: NOON + 11 * 3_600_000, seed: 7, days: 30, isWanted })).toBeGreaterThan(0);
});

test('the figures are plausible: some plays complete, viewers return, weekends are quieter', async () => {
  const { records } = await seeded({ videos: 40 });
  for (const video of records.statistics.ofVideos(undefined, PERIOD, { page: 1, perPage: 40 })) {
    expect(video.completionRate).toBeGreaterThan(0);
    expect(video.completionRate).toBeLessThan(1);
    expect(video.averageWatchS).toBeGreaterThan(20);
    expect(video.averageWatchS).toBeLessThan(100);
  }
  const { totalViews, uniqueViewers } = records.statistics.overview(undefined, PERIOD);
  expect(uniqueViewers).toBeLessThan(totalViews * 0.7);
  const daily = records.statistics.dailyViews({}, PERIOD).slice(0, -1);
  const average = (weekdays: number[]) => {
    const days = daily.filter(({ date }) => weekdays.includes(new Date(date).getUTCDay()));
    return days.reduce((sum, { views }) => sum + views, 0) / days.length;
  };
  expect(average([0, 6])).toBeLessThan(average([1, 2, 3, 4, 5]) * 0.8);
});

test('a new video has most of its views in its first days', async () => {
  const { records } = newAccount();
  for (let index = 0; index < 20; index += 1) addVideo(records, `vid_${index}`, { createdAtMs: NOON - 20 * DAY_MS });
  await seedHistory({ records, nowMs: NOON, seed: 3, days: 30, isWanted });
  const daily = records.statistics.dailyViews({}, PERIOD).map(({ views }) => views);
  const sum = (from: number, to: number) => daily.slice(from, to).reduce((total, views) => total + views, 0);
  expect(sum(0, 9)).toBe(0); // not published yet
  expect(sum(9, 14)).toBeGreaterThan(2 * sum(20, 25));
});

test('videos of today get a past as well, so that a new sandbox has something to show', async () => {
  const { records } = newAccount();
  for (let index = 0; index < 5; index += 1) addVideo(records, `vid_${index}`, { createdAtMs: NOON });
  await seedHistory({ records, nowMs: NOON, seed: 3, days: 30, isWanted });
  for (const video of records.statistics.ofVideos(undefined, PERIOD, { page: 1, perPage: 5 }))
    expect(video.views).toBeGreaterThan(10);
});

test('videos that are not ready have no plays', async () => {
  const { records } = newAccount();
  const video = { title: 'T', description: null, channelId: 'ch_a', tags: [], sourceUrl: null, createdAtMs: 0 };
  records.videos.create(video, () => 'vid_pending');
  expect(await seedHistory({ records, nowMs: NOON, seed: 3, days: 30, isWanted })).toBe(0);
});
