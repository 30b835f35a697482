import { describe, expect, test, vi } from 'vitest';
import { analyticsOverview, videoAnalytics } from '../../../src/cli/api/analytics.ts';
import { listChannels, listFeeds, publishFeed } from '../../../src/cli/api/channels.ts';
import { getVideo, listVideos } from '../../../src/cli/api/videos.ts';
import type { VideoListItem } from '../../../packages/client/src/wire/videos.ts';
import type { VideoQuery } from '../../../packages/client/src/video-client.ts';
import { fakeSession, fakeShell, printedJson } from './fake-shell.ts';

const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
const video: VideoListItem = {
  id: 'vid_1',
  title: 'Evening\nnews\u{1B}[2J \u202Egpj',
  status: 'ready',
  duration: 95,
  createdAt: anHourAgo,
  embedUrl: '',
};
const bare: VideoListItem = { id: 'vid_2', status: 'transcoding', title: '', createdAt: '', embedUrl: '' };

/** A client that has these videos, and remembers what it was asked. */
function library(videos: readonly VideoListItem[]) {
  const list = vi.fn(({ limit = Infinity }: VideoQuery = {}) => ({
    page: () => Promise.reject(new Error('not asked for')),
    toArray: () => Promise.resolve(videos.slice(0, limit)),
    async *[Symbol.asyncIterator]() {
      yield* videos;
    },
  }));
  return { list, get: () => Promise.resolve(video) };
}

describe('videos list', () => {
  test('a table on a terminal: times are relative, hostile titles do nothing, states have colours', async () => {
    const shell = fakeShell({ isTerminal: true });
    await listVideos(fakeSession(shell, { videos: library([video, bare]) }), { limit: 100 });
    const [titles, first, second] = shell.out.text.split('\n');
    expect(titles).toMatch(/STATUS.* +.*ID.* +.*TITLE.* +.*LENGTH.* +.*CREATED/);
    expect(first).toContain('\u{1B}[32mready\u{1B}[39m');
    expect(first).toContain(String.raw`vid_1  Evening\nnews\x1b[2J \u202egpj  1 m 35 s  1 h ago`);
    expect(second).toMatch(/^transcoding {2}vid_2 {2}- +- {2}-$/);
  });

  test('in a pipe: no colours, times as they were sent, nothing cut', async () => {
    const shell = fakeShell();
    const title = 'x'.repeat(300);
    await listVideos(fakeSession(shell, { videos: library([{ ...video, title }]) }), { limit: 100 });
    expect(shell.out.text.split('\n')[1]).toBe(`ready   vid_1  ${title}  1 m 35 s  ${anHourAgo}`);
  });

  test('NO_COLOR takes the colours on a terminal', async () => {
    const shell = fakeShell({ isTerminal: true, env: { NO_COLOR: '1' } });
    await listVideos(fakeSession(shell, { videos: library([video]) }), { limit: 100 });
    expect(shell.out.text).not.toContain('\u{1B}');
  });

  test('json: one object, every video with the fields of a list, and nothing about others', async () => {
    const shell = fakeShell();
    await listVideos(fakeSession(shell, { videos: library([video, bare]) }), { limit: 100, json: true });
    const unknown = {
      title: null,
      duration: null,
      created_at: null,
      thumbnail_url: null,
      embed_url: null,
    };
    expect(printedJson(shell)).toEqual({
      v: 1,
      videos: [
        { ...unknown, id: 'vid_1', status: 'ready', title: video.title, duration: 95, created_at: anHourAgo },
        { ...unknown, id: 'vid_2', status: 'transcoding' },
      ],
    });
    expect(shell.err.text).toBe('');
  });

  test('an empty list is an empty array for a program and a sentence on stderr for a person', async () => {
    const [program, person] = [fakeShell(), fakeShell()];
    await listVideos(fakeSession(program, { videos: library([]) }), { limit: 100, json: true });
    await listVideos(fakeSession(person, { videos: library([]) }), { limit: 100 });
    expect(program.out.text).toBe('{"v":1,"videos":[]}\n');
    expect([person.out.text, person.err.text]).toEqual(['', expect.stringMatching(/^No .*\n$/)]);
  });

  test('the filter is passed on, and no page is larger than what is wanted', async () => {
    const videos = library([]);
    const list = (limit: number) =>
      listVideos(fakeSession(fakeShell(), { videos }), { limit, channel: 'ch_1', status: 'failed' });
    await list(5);
    await list(250);
    const signal = expect.any(AbortSignal);
    expect(videos.list.mock.calls).toEqual([
      [{ perPage: 5, channelId: 'ch_1', status: 'failed', limit: 5 }, { signal }],
      [{ perPage: 100, channelId: 'ch_1', status: 'failed', limit: 250 }, { signal }],
    ]);
  });

  test('a list that was cut says so on stderr', async () => {
    const shell = fakeShell();
    await listVideos(fakeSession(shell, { videos: library([video, bare]) }), { limit: 1 });
    expect(shell.out.text.split('\n')).toHaveLength(3);
    expect(shell.err.text).toMatch(/\b1\b.* --limit/);
  });
});

test('videos get: lines are kept in a description alone', async () => {
  const shell = fakeShell();
  const whole = { ...video, description: 'one\ntwo', tags: ['a', 'b'], channelId: 'ch_1', message: 'damaged\n' };
  await getVideo(fakeSession(shell, { videos: { get: () => Promise.resolve(whole) } }), {}, 'vid_1');
  expect(shell.out.text).toBe(
    [
      'id           vid_1',
      String.raw`title        Evening\nnews\x1b[2J \u202egpj`,
      'status       ready',
      String.raw`why          damaged\n`,
      'description  one',
      '             two',
      'channel      ch_1',
      'tags         a, b',
      'length       1 m 35 s',
      `created      ${anHourAgo}`,
      '',
    ].join('\n'),
  );
});

test('channels list', async () => {
  const channel = { id: 'ch_1', name: 'News', slug: 'news', videoCount: 1234, createdAt: 'long ago' };
  const channels = { list: () => Promise.resolve([channel, { id: 'ch_2', name: '', slug: '', createdAt: '' }]) };
  const [table, json] = [fakeShell({ isTerminal: true, env: { NO_COLOR: '1' } }), fakeShell()];
  await listChannels(fakeSession(table, { channels }), {});
  await listChannels(fakeSession(json, { channels }), { json: true });
  expect(table.out.text).toBe(
    'ID    NAME  SLUG  VIDEOS  CREATED\nch_1  News  news   1,234  long ago\nch_2  -     -          -  -\n',
  );
  expect(printedJson(json)).toMatchObject({ v: 1, channels: [{ video_count: 1234 }, { id: 'ch_2', name: null }] });
});

test('feeds list and publish', async () => {
  const feed = { id: 'feed_1', name: 'News', type: 'mrss', channelId: 'ch_1', url: 'https://example.com/f' };
  const feeds = {
    list: () => Promise.resolve([feed]),
    publish: () => Promise.resolve({ feedId: 'feed_1', status: 'published', publishedAt: anHourAgo, videoCount: 1 }),
  };
  const [table, listed, line, published] = [fakeShell(), fakeShell(), fakeShell(), fakeShell()];
  await listFeeds(fakeSession(table, { feeds }), {});
  await listFeeds(fakeSession(listed, { feeds }), { json: true });
  await publishFeed(fakeSession(line, { feeds }), {}, 'feed_1');
  await publishFeed(fakeSession(published, { feeds }), { json: true }, 'feed_1');
  expect(table.out.text).toMatch(/^ID .*\nfeed_1 {2}News {2}mrss {2}ch_1 {5}- {10}https:\/\/example.com\/f\n$/);
  expect(printedJson(listed)).toMatchObject({ feeds: [{ channel_id: 'ch_1', last_published_at: null }] });
  expect(line.out.text).toBe('feed_1: published with 1 video\n');
  expect(printedJson(published)).toEqual({
    v: 1,
    feed_id: 'feed_1',
    status: 'published',
    published_at: anHourAgo,
    video_count: 1,
  });
});

describe('analytics', () => {
  const record = {
    videoId: 'vid_1',
    period: { from: '2026-03-01', to: '2026-03-07' },
    views: 12_345,
    uniqueViewers: 9_000,
    avgWatchTimeSeconds: 61.5,
    completionRate: 0.638,
  };
  const overview = {
    period: { from: '', to: '' },
    totalViews: 3,
    uniqueViewers: 2,
    topVideos: [{ id: 'vid_1', title: 'a\nb', views: 3 }],
  };

  test('of a video', async () => {
    const video = vi.fn(() => Promise.resolve(record));
    const [person, program] = [fakeShell(), fakeShell()];
    const days = { from: '2026-03-01', to: '2026-03-07' };
    await videoAnalytics(fakeSession(person, { analytics: { video } }), days, 'vid_1');
    await videoAnalytics(fakeSession(program, { analytics: { video } }), { json: true }, 'vid_1');
    expect(person.out.text).toBe(
      [
        'video               vid_1',
        'period              2026-03-01 to 2026-03-07',
        'views               12,345',
        'unique viewers      9,000',
        'average watch time  1 m 1 s',
        'completion rate     63%',
        '',
      ].join('\n'),
    );
    expect(printedJson(program)).toEqual({
      v: 1,
      video_id: 'vid_1',
      period: record.period,
      views: 12_345,
      unique_viewers: 9_000,
      avg_watch_time_seconds: 61.5,
      completion_rate: 0.638,
    });
    expect(video.mock.calls.map(([, period]: unknown[]) => period)).toEqual([
      { from: '2026-03-01', to: '2026-03-07' },
      {},
    ]);
  });

  test('a video without views has no average', async () => {
    const shell = fakeShell();
    const nothing = { ...record, views: 0, uniqueViewers: 0, avgWatchTimeSeconds: 0, completionRate: 0 };
    const analytics = { video: () => Promise.resolve(nothing) };
    await videoAnalytics(fakeSession(shell, { analytics }), {}, 'vid_1');
    expect(shell.out.text).toMatch(/views {15}0\n[^]*average watch time {2}-\ncompletion rate {5}-\n$/);
  });

  test('a total omits a period that is not given, and lists the most viewed below', async () => {
    const [person, program] = [fakeShell(), fakeShell()];
    const analytics = { overview: vi.fn(() => Promise.resolve(overview)) };
    await analyticsOverview(fakeSession(person, { analytics }), { channel: 'ch_1' });
    await analyticsOverview(fakeSession(program, { analytics }), { json: true });
    expect(person.out.text).toBe(
      `views           3\nunique viewers  2\n\nMost viewed\nVIEWS  ID     TITLE\n    3  vid_1  ${String.raw`a\nb`}\n`,
    );
    expect(printedJson(program)).toEqual({
      v: 1,
      period: { from: null, to: null },
      total_views: 3,
      unique_viewers: 2,
      top_videos: overview.topVideos,
    });
    expect(analytics.overview).toHaveBeenCalledWith({ channelId: 'ch_1' }, expect.anything());
  });

  test('a period the wrong way round asks nothing', async () => {
    const done = videoAnalytics(fakeSession(fakeShell(), {}), { from: '2026-03-02', to: '2026-03-01' }, 'vid_1');
    await expect(done).rejects.toMatchObject({ exitCode: 2 });
  });
});
