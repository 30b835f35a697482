import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, type RunningSandbox } from '../running-sandbox.ts';

const NOW = Date.parse('2026-11-04T12:00:00Z');

let service: RunningSandbox;
let news: string;
let podcast: string;
beforeAll(async () => {
  service = await runSandbox({ nowMs: () => NOW, processingMs: { min: 0, max: 0 } });
  news = (await service.upload('clip.mp4', { channel_id: 'ch_news', title: 'In the news' })).id;
  podcast = (await service.upload('interview.mp3', { channel_id: 'ch_podcast' })).id;
  for (const agent of ['one', 'two', 'two']) await play(news, agent);
  await play(podcast, 'one');
});
afterAll(() => service.sandbox.close());

/** As a player does that has no cookie. */
async function play(videoId: string, agent: string): Promise<void> {
  const response = await fetch(new URL(`/embed/${videoId}/plays`, service.sandbox.baseUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': agent },
    body: '{}',
  });
  expect(response.status).toBe(201);
}

const get = (path: string) => service.call('GET', path);

describe('analytics of one video (2.5, 4.4)', () => {
  test('2.5 the record has its id, period, views, viewers, watch time and completion', async () => {
    const { status, body } = await get(`/analytics/videos?video_id=${news}&from=2026-11-01&to=2026-11-04`);
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        video_id: news,
        period: { from: '2026-11-01', to: '2026-11-04' },
        views: 3,
        unique_viewers: 2,
        avg_watch_time_seconds: 0,
        completion_rate: 0,
      },
    });
  });

  test('4.4 a period without plays has none', async () => {
    const { body } = await get(`/analytics/videos?video_id=${news}&from=2026-10-01&to=2026-11-03`);
    expect(body.data).toMatchObject({ views: 0, unique_viewers: 0, avg_watch_time_seconds: 0, completion_rate: 0 });
  });

  test('the period is the last 30 days until today by the clock of the service', async () => {
    const { body } = await get(`/analytics/videos?video_id=${news}`);
    expect(body.data.period).toEqual({ from: '2026-10-06', to: '2026-11-04' });
  });

  test('video and channel together must belong together', async () => {
    expect((await get(`/analytics/videos?video_id=${news}&channel_id=ch_news`)).body.data.views).toBe(3);
    const other = await get(`/analytics/videos?video_id=${news}&channel_id=ch_podcast`);
    expect(other).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
});

describe('analytics of all videos (4.4, 4.5)', () => {
  test('without video_id all videos, most views first, in pages', async () => {
    const first = await get('/analytics/videos?per_page=1');
    expect(first.body).toEqual({
      data: [expect.objectContaining({ video_id: news, views: 3 })],
      meta: { page: 1, per_page: 1, total: 2 },
    });
    const second = await get('/analytics/videos?per_page=1&page=2');
    expect(second.body.data).toEqual([expect.objectContaining({ video_id: podcast, views: 1 })]);
    expect((await get('/analytics/videos?page=2')).body.data).toEqual([]);
  });

  test('4.4 filtered by channel', async () => {
    const { body } = await get('/analytics/videos?channel_id=ch_podcast');
    expect(body.data.map((video: { video_id: string }) => video.video_id)).toEqual([podcast]);
    expect(body.meta).toEqual({ page: 1, per_page: 25, total: 1 });
  });
});

describe('the overview (2.5, 4.4)', () => {
  test('4.4 of the whole account, where a viewer of two videos is one', async () => {
    const { status, body } = await get('/analytics/overview?from=2026-11-04&to=2026-11-04');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        period: { from: '2026-11-04', to: '2026-11-04' },
        total_views: 4,
        unique_viewers: 2,
        top_videos: [
          { id: news, title: 'In the news', views: 3 },
          { id: podcast, title: 'A clip', views: 1 },
        ],
      },
    });
  });

  test('4.4 of one channel', async () => {
    const { body } = await get('/analytics/overview?channel_id=ch_podcast');
    expect(body.data).toMatchObject({ total_views: 1, unique_viewers: 1, top_videos: [{ id: podcast }] });
  });
});

describe('what cannot be answered', () => {
  const both = ['/analytics/videos', '/analytics/overview'];

  test.each([
    ['from=2026-02-30', 422],
    ['from=2026-2-3', 422],
    ['from=yesterday', 422],
    ['from=', 422],
    ['from=1969-12-31', 422],
    ['from=2026-11-05', 422],
    ['from=2026-11-04&to=2026-11-03', 422],
    ['from=2025-11-03&to=2026-11-04', 422],
    ['from=2026-11-01&from=2026-11-02', 422],
    ['since=2026-11-01', 422],
    ['channel_id=ch_nobody', 404],
    ['channel_id=', 404],
    ['channel_id=%00', 404],
  ])('%s', async (query, status) => {
    for (const path of both) {
      const answer = await get(`${path}?${query}`);
      expect([answer.status, answer.body.error.code]).toEqual([
        status,
        status === 404 ? 'not_found' : 'invalid_request',
      ]);
      expect(answer.body.error.message).toMatch(/^["A-Za-z].*\.$/);
    }
  });

  test('366 days are taken, with the leap day', async () => {
    expect((await get('/analytics/overview?from=2024-01-01&to=2024-12-31')).status).toBe(200);
    expect((await get('/analytics/overview?from=2024-01-01&to=2025-01-01')).status).toBe(422);
  });

  test.each(['video_id=vid_nobody', 'video_id=', 'video_id=../videos'])('%s is 404', async (query) => {
    expect((await get(`/analytics/videos?${query}`)).status).toBe(404);
  });

  test.each(['page=0', 'per_page=101', 'per_page=x'])('%s is refused', async (query) => {
    expect((await get(`/analytics/videos?${query}`)).status).toBe(422);
  });

  test('other methods are refused, and so is a stranger', async () => {
    expect((await service.call('POST', '/analytics/videos', {})).status).toBe(405);
    const response = await fetch(`${service.sandbox.baseUrl}/analytics/overview`);
    expect(response.status).toBe(401);
  });
});

test('3 a deleted video takes its plays with it', async () => {
  const { id } = await service.upload('clip.mp4', { channel_id: 'ch_main' });
  await play(id, 'three');
  expect((await get('/analytics/overview')).body.data).toMatchObject({ total_views: 5, unique_viewers: 3 });
  await service.call('DELETE', `/videos/${id}`);
  expect((await get('/analytics/overview')).body.data).toMatchObject({ total_views: 4, unique_viewers: 2 });
  expect((await get(`/analytics/videos?video_id=${id}`)).status).toBe(404);
});
