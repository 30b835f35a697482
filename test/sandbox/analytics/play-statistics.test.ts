import { expect, test, vi } from 'vitest';
import { DAY_MS } from '../../../packages/sandbox/src/analytics/period.ts';
import { addPlay, addVideo, newAccount, NOON } from './account.ts';

const TODAY = { from: '2026-11-04', to: '2026-11-04' };

test('a video: views, viewers, average watch time and the part that was completed', () => {
  const { records } = newAccount();
  for (const id of ['vid_1', 'vid_2']) addVideo(records, id);
  addPlay(records, 'vid_1', { viewer: 'ann', watchedS: 10 });
  addPlay(records, 'vid_1', { viewer: 'ann', watchedS: 95, isComplete: true });
  addPlay(records, 'vid_1', { viewer: 'bob', watchedS: 15 });
  addPlay(records, 'vid_2', { viewer: 'eve', watchedS: 1000 });
  expect(records.statistics.ofVideo('vid_1', TODAY)).toEqual({
    videoId: 'vid_1',
    views: 3,
    uniqueViewers: 2,
    averageWatchS: 40,
    completionRate: 1 / 3,
  });
});

test('without views all figures are 0', () => {
  const { records } = newAccount();
  addVideo(records, 'vid_1');
  expect(records.statistics.ofVideo('vid_1', TODAY)).toEqual({
    videoId: 'vid_1',
    views: 0,
    uniqueViewers: 0,
    averageWatchS: 0,
    completionRate: 0,
  });
  expect(records.statistics.overview(undefined, TODAY)).toEqual({ totalViews: 0, uniqueViewers: 0, topVideos: [] });
});

test('the first and the last millisecond of the period count, their neighbours do not', () => {
  const { records } = newAccount();
  addVideo(records, 'vid_1');
  const midnight = Date.parse('2026-11-04T00:00:00Z');
  for (const startedAtMs of [midnight - 1, midnight, midnight + DAY_MS - 1, midnight + DAY_MS])
    addPlay(records, 'vid_1', { startedAtMs, viewer: `viewer of ${startedAtMs}` });
  expect(records.statistics.ofVideo('vid_1', TODAY)).toMatchObject({ views: 2, uniqueViewers: 2 });
  expect(records.statistics.overview(undefined, TODAY)).toMatchObject({ totalViews: 2, uniqueViewers: 2 });
  expect(records.statistics.dailyViews({}, { from: '2026-11-02', to: '2026-11-05' })).toEqual([
    { date: '2026-11-02', views: 0 },
    { date: '2026-11-03', views: 1 },
    { date: '2026-11-04', views: 2 },
    { date: '2026-11-05', views: 1 },
  ]);
});

test('an overview counts a viewer of two videos once, and keeps to its channel', () => {
  const { records } = newAccount();
  addVideo(records, 'vid_1', { channelId: 'ch_a' });
  addVideo(records, 'vid_2', { channelId: 'ch_b' });
  for (const id of ['vid_1', 'vid_2', 'vid_2']) addPlay(records, id, { viewer: 'ann' });
  expect(records.statistics.overview(undefined, TODAY)).toEqual({
    totalViews: 3,
    uniqueViewers: 1,
    topVideos: [
      { id: 'vid_2', title: 'Title of vid_2', views: 2 },
      { id: 'vid_1', title: 'Title of vid_1', views: 1 },
    ],
  });
  expect(records.statistics.overview('ch_a', TODAY)).toEqual({
    totalViews: 1,
    uniqueViewers: 1,
    topVideos: [{ id: 'vid_1', title: 'Title of vid_1', views: 1 }],
  });
  expect(records.statistics.dailyViews({ channelId: 'ch_a' }, TODAY)).toEqual([{ date: '2026-11-04', views: 1 }]);
  expect(records.statistics.dailyViews({ videoId: 'vid_2' }, TODAY)).toEqual([{ date: '2026-11-04', views: 2 }]);
});

test('the top videos are ten at most, ties in the order of their ids', () => {
  const { records } = newAccount();
  for (let index = 20; index >= 10; index -= 1) {
    addVideo(records, `vid_${index}`);
    addPlay(records, `vid_${index}`);
  }
  addPlay(records, 'vid_20');
  const { topVideos } = records.statistics.overview(undefined, TODAY);
  expect(topVideos.map(({ id }) => id)).toEqual(
    ['20', '10', '11', '12', '13', '14', '15', '16', '17', '18'].map((number) => `vid_${number}`),
  );
});

test('pages of videos hold all of them once, most views first, those without views last', () => {
  const { records } = newAccount();
  for (const id of ['vid_1', 'vid_2', 'vid_3', 'vid_4']) addVideo(records, id);
  addVideo(records, 'vid_5', { channelId: 'ch_b' });
  for (const id of ['vid_3', 'vid_3', 'vid_5']) addPlay(records, id);
  addPlay(records, 'vid_1', { startedAtMs: NOON - DAY_MS });
  const page = (number: number, channelId?: string) =>
    records.statistics.ofVideos(channelId, TODAY, { page: number, perPage: 2 }).map(({ videoId }) => videoId);
  expect([page(1), page(2), page(3), page(4)]).toEqual([['vid_3', 'vid_5'], ['vid_1', 'vid_2'], ['vid_4'], []]);
  expect([page(1, 'ch_a'), page(2, 'ch_a'), page(3, 'ch_a')]).toEqual([['vid_3', 'vid_1'], ['vid_2', 'vid_4'], []]);
});

test('every question is answered from an index, never from the rows of the plays', () => {
  const { records } = newAccount();
  addVideo(records, 'vid_1');
  const prepare = vi.spyOn(records.database, 'prepare');
  const { statistics } = records;
  for (const channelId of [undefined, 'ch_a']) {
    statistics.overview(channelId, TODAY);
    statistics.ofVideos(channelId, TODAY, { page: 1, perPage: 1 });
    statistics.dailyViews({ channelId }, TODAY);
  }
  statistics.dailyViews({ videoId: 'vid_1' }, TODAY);
  const asked = prepare.mock.calls.map(([sql]) => sql);
  expect(asked.length).toBeGreaterThan(8);
  for (const sql of asked) {
    const plan = records.database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    const steps = plan.map((step) => String(step['detail'])).filter((step) => / plays\b/.test(step));
    expect(steps, sql).toEqual([expect.stringMatching(/^SEARCH plays USING COVERING INDEX/)]);
  }
});
