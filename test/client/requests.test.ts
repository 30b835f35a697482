import nock from 'nock';
import { describe, expect, test } from 'vitest';

import type { VideoClient } from '../../packages/client/src/video-client.ts';
import { RejectedError, UnreadableAnswerError } from '../../packages/client/src/errors.ts';
import { apiKey } from './daemon-client.ts';
import { failure, openClient } from './open-client.ts';
import { base, mockExchanges } from './nocked.ts';

mockExchanges();

const common = { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'user-agent': /^dropcast-client\// };

describe('videos', () => {
  test('one is read with all of its fields', async () => {
    await using opened = openClient(base);
    const wire = {
      id: 'vid_1',
      title: 'T',
      description: 'D',
      channel_id: 'ch_1',
      tags: ['a'],
      source_url: 'https://a.example.com/x.mp4',
      status: 'ready',
      duration: 12,
      created_at: '2026-11-20T12:00:00Z',
      thumbnail_url: 'https://cdn.example.com/1.jpg',
      embed_url: 'https://embed.example.com/1',
    };
    nock(base, { reqheaders: common }).get('/videos/vid_1').reply(200, { data: wire });
    expect(await opened.client.videos.get('vid_1')).toEqual({
      id: 'vid_1',
      title: 'T',
      description: 'D',
      channelId: 'ch_1',
      tags: ['a'],
      sourceUrl: 'https://a.example.com/x.mp4',
      status: 'ready',
      duration: 12,
      createdAt: '2026-11-20T12:00:00Z',
      thumbnailUrl: 'https://cdn.example.com/1.jpg',
      embedUrl: 'https://embed.example.com/1',
    });
  });

  test('one is created with what is given, and only that', async () => {
    await using opened = openClient(base);
    const created = { id: 'vid_1', upload_url: 'https://up.example.com/1', status: 'pending' };
    nock(base, { reqheaders: common, badheaders: ['idempotency-key'] })
      .post('/videos', { title: 'T' })
      .reply(201, created);
    nock(base, { badheaders: ['idempotency-key'] })
      .post('/videos', { title: 'T', description: 'D', channel_id: 'ch_1', tags: ['a', 'b'] })
      .reply(200, { data: created });
    const expected = { id: 'vid_1', uploadUrl: 'https://up.example.com/1', status: 'pending' };
    expect(await opened.client.videos.create({ title: 'T' })).toEqual(expected);
    const fields = { title: 'T', description: 'D', channelId: 'ch_1', tags: ['a', 'b'] };
    expect(await opened.client.videos.create(fields)).toEqual(expected);
  });

  test('an idempotency key goes only to a service that honours it, where it makes a create request repeatable', async () => {
    const created = { id: 'vid_1', upload_url: 'https://up.example.com/1', status: 'pending' };
    await using opened = openClient(base);
    const refused = await failure(opened.client.videos.create({ title: 'T' }, { idempotencyKey: 'mine' }));
    expect(refused).toBeInstanceOf(TypeError);
    await using honoured = openClient(base, { honoursIdempotencyKey: true });
    const keys: string[] = [];
    const noted = { 'idempotency-key': (key: string) => keys.push(key) > 0 } as never;
    nock(base, { reqheaders: noted }).post('/videos').reply(503).post('/videos').reply(201, created);
    nock(base, { reqheaders: { 'idempotency-key': 'mine' } })
      .post('/videos')
      .reply(201, created);
    expect(await honoured.client.videos.create({ title: 'T' })).toMatchObject({ id: 'vid_1' });
    expect(new Set(keys.filter((key) => key !== 'mine')).size).toBe(1);
    expect(await honoured.client.videos.create({ title: 'T' }, { idempotencyKey: 'mine' })).toMatchObject({
      id: 'vid_1',
    });
  });

  test('one that was created has an upload address, an import need not', async () => {
    await using opened = openClient(base);
    const source = 'https://a.example.com/x.mp4';
    nock(base)
      .post('/videos', { title: 'T', source_url: source })
      .reply(202, { id: 'vid_2', status: 'processing' })
      .post('/videos', { title: 'T' })
      .reply(201, { id: 'vid_3', status: 'pending' });
    expect(await opened.client.videos.import(source, { title: 'T' })).toEqual({
      id: 'vid_2',
      uploadUrl: null,
      status: 'processing',
    });
    await expect(opened.client.videos.create({ title: 'T' })).rejects.toThrow(UnreadableAnswerError);
  });

  test('one is changed, and given back if the answer is one', async () => {
    await using opened = openClient(base);
    nock(base)
      .patch('/videos/vid_1', { title: 'T', description: '', tags: [] })
      .reply(200, { data: { id: 'vid_1', status: 'ready', title: 'T' } })
      .patch('/videos/vid_1', { title: 'T' })
      .reply(204)
      .patch('/videos/vid_1', { title: 'T' })
      .reply(200, 'ok')
      .patch('/videos/vid_1', { title: 'T' })
      .reply(200, '<!doctype html><p>Log in</p>');
    const { videos } = opened.client;
    expect(await videos.update('vid_1', { title: 'T', description: '', tags: [] })).toEqual({
      id: 'vid_1',
      status: 'ready',
      title: 'T',
    });
    expect(await videos.update('vid_1', { title: 'T' })).toBeNull();
    expect(await videos.update('vid_1', { title: 'T' })).toBeNull();
    await expect(videos.update('vid_1', { title: 'T' })).rejects.toThrow(UnreadableAnswerError);
  });

  test('one is deleted, whatever the answer holds', async () => {
    await using opened = openClient(base);
    nock(base)
      .delete('/videos/vid_1')
      .reply(204)
      .delete('/videos/vid_2')
      .reply(200, { data: { deleted: true } });
    expect(await opened.client.videos.delete('vid_1')).toBeUndefined();
    expect(await opened.client.videos.delete('vid_2')).toBeUndefined();
  });

  test.each(['', '.', '..', '\ud800'])('none has the id %j, so no request is sent', async (id) => {
    await using opened = openClient(base);
    const { videos, channels, feeds } = opened.client;
    for (const work of [
      videos.get(id),
      videos.update(id, {}),
      videos.delete(id),
      channels.update(id, {}),
      feeds.publish(id),
    ]) {
      expect(await failure(work)).toBeInstanceOf(RejectedError);
    }
    expect(opened.requests).toEqual([]);
  });
});

describe('what cannot be sent', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;

  test.each<[string, (client: VideoClient) => Promise<unknown>]>([
    ['settings in a circle', ({ channels }) => channels.update('ch_1', { defaultPlayerSettings: circular })],
    ['settings with a bigint', ({ channels }) => channels.update('ch_1', { defaultPlayerSettings: { a: 1n } })],
    ['a key of two lines', ({ videos }) => videos.create({ title: 'T' }, { idempotencyKey: 'a\nb' })],
  ])('is a mistake of the caller and none of the line: %s', async (_, call) => {
    await using opened = openClient(base, { honoursIdempotencyKey: true });
    expect(await failure(call(opened.client))).toBeInstanceOf(TypeError);
    expect(opened.sleeps).toEqual([]);
  });
});

describe('channels', () => {
  test('are listed and changed', async () => {
    await using opened = openClient(base);
    const wire = { id: 'ch_1', name: 'N', slug: 'n', video_count: 3, created_at: 'T' };
    nock(base)
      .get('/channels')
      .reply(200, { data: [wire] })
      .patch('/channels/ch_1', { name: 'M', description: 'D', default_player_settings: { autoplay: true } })
      .reply(200, { data: { ...wire, name: 'M', description: 'D', default_player_settings: { autoplay: true } } })
      .patch('/channels/ch_1', { name: 'M' })
      .reply(204);
    const channel = { id: 'ch_1', name: 'N', slug: 'n', videoCount: 3, createdAt: 'T' };
    const settings = { autoplay: true };
    const { channels } = opened.client;
    expect(await channels.list()).toEqual([channel]);
    expect(await channels.update('ch_1', { name: 'M', description: 'D', defaultPlayerSettings: settings })).toEqual({
      ...channel,
      name: 'M',
      description: 'D',
      defaultPlayerSettings: settings,
    });
    expect(await channels.update('ch_1', { name: 'M' })).toBeNull();
  });
});

describe('feeds', () => {
  test('are listed and published', async () => {
    await using opened = openClient(base);
    nock(base)
      .get('/feeds')
      .reply(200, { data: [{ id: 'feed_1', name: 'N', type: 'mrss', channel_id: 'ch_1', url: 'https://f/1' }] })
      .post('/feeds/feed_1/publish', '')
      .reply(200, { feed_id: 'feed_1', status: 'published', published_at: 'T', video_count: 2 });
    const { feeds } = opened.client;
    expect(await feeds.list()).toEqual([
      { id: 'feed_1', name: 'N', type: 'mrss', channelId: 'ch_1', url: 'https://f/1' },
    ]);
    expect(await feeds.publish('feed_1')).toEqual({
      feedId: 'feed_1',
      status: 'published',
      publishedAt: 'T',
      videoCount: 2,
    });
  });
});

// A program passes on what it was not given itself; under `exactOptionalPropertyTypes` this has to compile, too.
test('options that are undefined have their defaults', async () => {
  const none = undefined;
  const options = {
    signal: none,
    timeoutMs: none,
    maxRetries: none,
    maxRetryAfterMs: none,
    onWait: none,
    priority: none,
  };
  const client = { userAgent: none, ca: none, requestGate: none, bandwidth: none, onRequest: none, sendKeyTo: none };
  await using opened = openClient(base, { ...client, honoursIdempotencyKey: none });
  nock(base)
    .post('/videos', { title: 'T' })
    .reply(201, { id: 'v', upload_url: 'https://u/1' })
    .get('/videos/v')
    .reply(200, { id: 'v', status: 'ready' })
    .get('/videos?page=1&per_page=100')
    .reply(200, { data: [] })
    .get('/analytics/videos')
    .reply(200, { data: [] });
  const { videos, analytics } = opened.client;
  const fields = { title: 'T', description: none, channelId: none, tags: none };
  expect(await videos.create(fields, { ...options, idempotencyKey: none })).toMatchObject({ id: 'v' });
  const waiting = { ...options, waitMs: none, intervalMs: none, onStatus: none };
  expect(await videos.waitUntilReady('v', waiting)).toMatchObject({ status: 'ready' });
  const query = { channelId: none, limit: none };
  expect(await videos.list({ ...query, status: none, perPage: none }, options).toArray({ limit: none })).toEqual([]);
  expect(await analytics.videos({ ...query, from: none, to: none }, options).toArray()).toEqual([]);
});

describe('analytics', () => {
  const period = { from: '2026-11-01', to: '2026-11-20' };

  test('of a video are its figures in the requested period', async () => {
    await using opened = openClient(base);
    const figures = { views: 10, unique_viewers: 7, avg_watch_time_seconds: 41.5, completion_rate: 0.62 };
    nock(base)
      .get('/analytics/videos?video_id=vid_1&from=2026-11-01&to=2026-11-20')
      .reply(200, { data: { video_id: 'vid_1', period, ...figures } })
      .get('/analytics/videos?video_id=vid_1')
      .reply(200, { views: 0, unique_viewers: 0, avg_watch_time_seconds: null, completion_rate: null });
    const { analytics } = opened.client;
    expect(await analytics.video('vid_1', period)).toEqual({
      videoId: 'vid_1',
      period,
      views: 10,
      uniqueViewers: 7,
      avgWatchTimeSeconds: 41.5,
      completionRate: 0.62,
    });
    expect(await analytics.video('vid_1')).toEqual({
      videoId: 'vid_1',
      period: { from: '', to: '' },
      views: 0,
      uniqueViewers: 0,
      avgWatchTimeSeconds: 0,
      completionRate: 0,
    });
  });

  test('of an account or a channel come with the videos seen most', async () => {
    await using opened = openClient(base);
    const top = [{ id: 'vid_1', title: 'T', views: 6 }, { id: '' }, { id: 'vid_2', views: 4 }];
    nock(base)
      .get('/analytics/overview?channel_id=ch_1&from=2026-11-01&to=2026-11-20')
      .reply(200, { data: { period, total_views: 10, unique_viewers: 7, top_videos: top } })
      .get('/analytics/overview')
      .reply(200, { period, total_views: 0, unique_viewers: 0 });
    const { analytics } = opened.client;
    expect(await analytics.overview({ channelId: 'ch_1', ...period })).toEqual({
      period,
      totalViews: 10,
      uniqueViewers: 7,
      topVideos: [
        { id: 'vid_1', title: 'T', views: 6 },
        { id: 'vid_2', title: '', views: 4 },
      ],
    });
    expect(await analytics.overview()).toEqual({ period, totalViews: 0, uniqueViewers: 0, topVideos: [] });
  });

  test.each(['', '.', '..'])('of %j are not asked for: without an id they are those of the account', async (id) => {
    await using opened = openClient(base);
    await expect(opened.client.analytics.video(id)).rejects.toMatchObject({ code: 'invalid_id' });
    expect(opened.requests).toEqual([]);
  });

  test('without figures are none', async () => {
    await using opened = openClient(base);
    nock(base)
      .get('/analytics/videos?video_id=v')
      .reply(200, { data: { video_id: 'v', views: 'many' } });
    await expect(opened.client.analytics.video('v')).rejects.toThrow(UnreadableAnswerError);
  });

  const figures = (id: string | null, views: number): object => ({
    ...(id !== null && { video_id: id }),
    period,
    views,
    unique_viewers: 1,
    avg_watch_time_seconds: 2.5,
    completion_rate: 0.5,
  });

  test('of a video are found in a list as well', async () => {
    await using opened = openClient(base);
    nock(base)
      .get('/analytics/videos?video_id=b')
      .reply(200, { data: [figures('a', 1), figures('b', 2)] })
      .get('/analytics/videos?video_id=b')
      .reply(200, [figures(null, 3)])
      .get('/analytics/videos?video_id=b')
      .reply(200, { data: [figures('a', 4)] });
    expect(await opened.client.analytics.video('b')).toMatchObject({ videoId: 'b', views: 2 });
    expect(await opened.client.analytics.video('b')).toMatchObject({ videoId: 'b', views: 3 });
    await expect(opened.client.analytics.video('b')).rejects.toThrow(UnreadableAnswerError);
  });

  test('of a channel are read page by page, as long as the service counts more', async () => {
    await using opened = openClient(base);
    const asked = { channel_id: 'ch_1', from: '2026-11-01', to: '2026-11-20' };
    nock(base)
      .get('/analytics/videos')
      .query(asked)
      .reply(200, { data: [figures('a', 3), figures('b', 2)], meta: { page: 1, per_page: 2, total: 3 } })
      .get('/analytics/videos')
      .query({ ...asked, page: 2 })
      .reply(200, { data: [figures('c', 1)], meta: { page: 2, per_page: 2, total: 3 } });
    const records = await opened.client.analytics.videos({ channelId: 'ch_1', ...period }).toArray();
    expect(records.map(({ videoId, views }) => [videoId, views])).toEqual([
      ['a', 3],
      ['b', 2],
      ['c', 1],
    ]);
  });

  test.each([
    ['a list', { data: [figures('a', 1)] }, ['a']],
    ['a bare list', [figures('a', 1)], ['a']],
    ['one record for all', { data: figures(null, 7) }, [undefined]],
    ['a list of several records without videos', [figures(null, 7), figures(null, 7)], [undefined, undefined]],
    ['nothing', { data: [] }, []],
  ])('of a channel may be %s, and are read once', async (_, body, ids) => {
    await using opened = openClient(base);
    nock(base).get('/analytics/videos').reply(200, body);
    const records = await opened.client.analytics.videos().toArray();
    expect(records.map(({ videoId }) => videoId)).toEqual(ids);
  });

  test.each([
    ['one record for all', figures(null, 7)],
    ['the same records', [figures('a', 3), figures(null, 7)]],
  ])('of a channel come once where a service that has no pages counts its videos: %s', async (_, data) => {
    await using opened = openClient(base);
    nock(base)
      .get('/analytics/videos')
      .query(true)
      .times(3)
      .reply(200, { data, meta: { total: 42 } });
    expect(await opened.client.analytics.videos().toArray()).toHaveLength([data].flat().length);
  });

  test('of a channel need no page for records that cannot be read', async () => {
    await using opened = openClient(base);
    nock(base)
      .get('/analytics/videos')
      .reply(200, { data: [figures('a', 3), { views: 'many' }], meta: { total: 2 } });
    expect(await opened.client.analytics.videos().toArray()).toHaveLength(1);
  });

  test('of a channel are all there when thousands come at once', async () => {
    await using opened = openClient(base);
    const data = Array.from({ length: 5000 }, (_, index) => figures(`v${index}`, index));
    nock(base).get('/analytics/videos').reply(200, { data });
    expect(await opened.client.analytics.videos().toArray()).toHaveLength(5000);
  });

  test('of a channel end with the first page where that is enough', async () => {
    await using opened = openClient(base);
    const body = { data: [figures('a', 3), figures('b', 2)], meta: { total: 9 } };
    nock(base).get('/analytics/videos').reply(200, body);
    expect(await opened.client.analytics.videos({ limit: 2 }).toArray()).toHaveLength(2);
    expect(() => opened.client.analytics.videos({ limit: -1 })).toThrow(TypeError);
  });
});
