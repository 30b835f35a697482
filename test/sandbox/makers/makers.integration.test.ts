import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSandbox, type Sandbox } from '../../../packages/sandbox/src/sandbox.ts';
import type { Json } from '../running-sandbox.ts';

const samplesDir = new URL('../../media/', import.meta.url).pathname;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ processingMs: { min: 0, max: 0 }, samplesDir });
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

async function admin(method: string, path: string, json?: unknown) {
  const headers = { authorization: `Bearer ${sandbox.adminToken}`, 'content-type': 'application/json' };
  const answer = await fetch(sandbox.adminUrl + path, {
    method,
    headers,
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  const body: Json = text === '' ? undefined : JSON.parse(text);
  return { status: answer.status, body };
}

async function api(path: string, from = sandbox): Promise<Json> {
  const answer = await fetch(from.baseUrl + path, { headers: { authorization: `Bearer ${from.apiKey}` } });
  return await answer.json();
}

describe('made for a test', () => {
  test('is a channel, with id and slug from its name or as they are given', async () => {
    expect((await admin('POST', '/channels', { name: 'Über uns!', description: 'x' })).body.data).toMatchObject({
      id: 'ch_uber-uns',
      slug: 'uber-uns',
      description: 'x',
      video_count: 0,
    });
    expect(sandbox.make.channel({ name: 'Own', id: 'ch_own', slug: 'other' })).toMatchObject({
      id: 'ch_own',
      slug: 'other',
    });
    expect((await admin('POST', '/channels', { name: 'Own', id: 'ch_own' })).status).toBe(409);
    const { data } = await api('/channels');
    expect(data.map(({ id }: { id: string }) => id)).toEqual([
      'ch_main',
      'ch_news',
      'ch_podcast',
      'ch_uber-uns',
      'ch_own',
    ]);
  });

  test('is a channel with a slug of its own', async () => {
    const { status, body } = await admin('POST', '/channels', { name: 'News', id: 'ch_other' });
    expect([status, body.error.message]).toEqual([409, expect.stringContaining('ch_news already has the slug news')]);
    expect(sandbox.make.channel({ name: 'News', id: 'ch_other', slug: 'other-news' })).toMatchObject({ name: 'News' });
  });

  test('are exactly the plays that were asked for, also after some were deleted', async () => {
    const gone = await sandbox.make.video({ title: 'Gone' });
    const { id } = await sandbox.make.video({ title: 'Stays' });
    const play = (videoId: string, viewer?: string) => ({ video_id: videoId, seconds: 1, ...(viewer && { viewer }) });
    sandbox.make.plays(play(gone.id), play(gone.id), play(id));
    const headers = { authorization: `Bearer ${sandbox.apiKey}` };
    await fetch(`${sandbox.baseUrl}/videos/${gone.id}`, { method: 'DELETE', headers });
    sandbox.make.plays(play(id), play(id, 'viewer_1'), play(id), play(id, 'viewer_1'));
    const { data } = await api(`/analytics/videos?video_id=${id}`);
    expect([data.views, data.unique_viewers]).toEqual([5, 4]);
  });

  test('is a feed of a channel, that can be published and removed', async () => {
    sandbox.make.channel({ name: 'New' });
    const feed = sandbox.make.feed({ name: 'TV', type: 'ctv', channel_id: 'ch_new', id: 'feed_new' });
    expect(feed).toMatchObject({ id: 'feed_new', type: 'ctv', last_published_at: null });
    expect((await admin('DELETE', '/channels/ch_new')).body.error.message).toContain('0 videos and 1 feeds');
    expect((await admin('DELETE', '/feeds/feed_new')).status).toBe(204);
    expect((await admin('DELETE', '/channels/ch_new')).status).toBe(204);
    expect((await admin('DELETE', '/channels/ch_new')).status).toBe(404);
    expect(() => sandbox.make.feed({ name: 'x', channel_id: 'ch_none' })).toThrow('there is no such channel');
  });

  test('is a video that is ready at once, with the length and the age that it is said to have, and a file that plays', async () => {
    const made = await sandbox.make.video({
      title: 'Old',
      channel_id: 'ch_news',
      tags: ['a'],
      duration: 3600,
      created_at: '2020-01-02T03:04:05Z',
    });
    expect(made).toMatchObject({
      status: 'ready',
      duration: 3600,
      created_at: '2020-01-02T03:04:05.000Z',
      tags: ['a'],
    });
    const newer = await sandbox.make.video({ title: 'New', channel_id: 'ch_news' });
    const { data } = await api('/videos');
    expect(data.map(({ id }: { id: string }) => id)).toEqual([newer.id, made.id]);
    expect((await fetch(made.thumbnail_url ?? '')).status).toBe(200);
    expect(sandbox.files().find(({ videoId }) => videoId === made.id)?.sizeBytes).toBeGreaterThan(1000);
  });

  test('is a video that has failed', async () => {
    const failure = { code: 'bad_codec', message: 'No.' };
    const made = (await admin('POST', '/videos', { title: 'Bad', failure })).body.data;
    expect(made).toMatchObject({ status: 'failed', error: failure });
  });

  test('are plays, exactly these', async () => {
    const { id } = await sandbox.make.video({ title: 'Seen', channel_id: 'ch_news', duration: 100 });
    sandbox.make.plays(
      { video_id: id, seconds: 10, viewer: 'ann', at: '2026-03-01T10:00:00Z' },
      { video_id: id, seconds: 100, viewer: 'ann', at: '2026-03-02T10:00:00Z', complete: true },
      { video_id: id, seconds: 40, viewer: 'bob', at: '2026-03-02T11:00:00Z' },
    );
    const { data } = await api(`/analytics/videos?video_id=${id}&from=2026-03-01&to=2026-03-02`);
    expect(data).toMatchObject({ views: 3, unique_viewers: 2, avg_watch_time_seconds: 50, completion_rate: 0.3333 });
    const bad = [
      { video_id: id, seconds: 1 },
      { video_id: 'vid_none', seconds: 1 },
    ];
    expect((await admin('POST', '/plays', bad)).body.error.message).toContain('1.video_id');
    const today = (await api(`/analytics/videos?video_id=${id}`)).data;
    expect(today.views).toBe(0);
  });

  test.each([
    ['POST', '/channels', {}, 'name'],
    ['POST', '/channels', { name: 'x', id: 'news' }, 'ch_'],
    ['POST', '/feeds', { name: 'x', channel_id: 'ch_news', type: 'rss' }, 'mrss, podcast or ctv'],
    ['POST', '/videos', { title: '' }, 'title'],
    ['POST', '/videos', { title: 'x', channel_id: 'ch_none' }, 'channel_id'],
    ['POST', '/videos', { title: 'x', created_at: '2999-01-01T00:00:00Z' }, 'future'],
    ['POST', '/videos', { title: 'x', duration: 0 }, 'above 0'],
    ['POST', '/plays', [], 'plays'],
    ['PUT', '/clock', { now: 'soon' }, 'now'],
    ['PUT', '/clock', {}, 'frozen or now'],
    ['PUT', '/snapshots/..%2f..%2fx', undefined, 'name of a snapshot'],
  ])('%s %s %j is refused with the place of the mistake', async (method, path, body, why) => {
    const answer = await admin(method, path, body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.message).toContain(why);
  });
});

describe('the clock', () => {
  test('stops at a later time, and continues from there', async () => {
    sandbox.setClock('2030-01-01T00:00:00Z');
    expect((await sandbox.make.video({ title: 'Later' })).created_at).toBe('2030-01-01T00:00:00.000Z');
    expect((await admin('PUT', '/clock', { now: '2031-01-01T00:00:00Z', frozen: false })).body.data).toMatchObject({
      frozen: false,
    });
    expect(() => sandbox.setClock('2029-01-01T00:00:00Z')).toThrow(/never goes back/);
    expect(() => sandbox.setClock('soon')).toThrow(RangeError);
    expect((await admin('PUT', '/clock', { now: '2029-01-01T00:00:00Z' })).body.error.message).toContain(
      'never goes back',
    );
  });

  test('begins at a time of your choice', async () => {
    await using past = await startSandbox({ now: '2001-02-03T04:05:06Z' });
    const made = await past.make.video({ title: 'Then' });
    expect(made.created_at).toMatch(/^2001-02-03T04:0/);
  });
});

describe('a snapshot by name', () => {
  test('is saved with its files, listed, restored and removed', async () => {
    const { id } = await sandbox.make.video({ title: 'Before' });
    expect((await admin('PUT', '/snapshots/before')).body.data).toMatchObject({
      name: 'before',
      bytes: expect.any(Number),
    });
    await sandbox.reset();
    expect((await api('/videos')).data).toEqual([]);
    expect((await admin('POST', '/snapshots/before/restore')).body.data).toEqual({
      videos: 1,
      files: 1,
      files_missing: 0,
    });
    const { data } = await api(`/videos/${id}`);
    expect((await fetch(data.thumbnail_url)).status).toBe(200);
    expect((await sandbox.snapshots.list()).map(({ name }) => name)).toEqual(['before']);
    await sandbox.snapshots.save('before');
    await sandbox.snapshots.remove('before');
    expect((await admin('GET', '/snapshots')).body.data).toEqual([]);
    expect((await admin('POST', '/snapshots/before/restore')).status).toBe(404);
    expect((await admin('DELETE', '/snapshots/before')).status).toBe(404);
  });

  test('is whole when several save it at the same time', async () => {
    await sandbox.make.video({ title: 'Before' });
    const saves = Array.from({ length: 4 }, () => admin('PUT', '/snapshots/same'));
    expect((await Promise.all(saves)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect((await admin('POST', '/snapshots/same/restore')).body.data).toMatchObject({ videos: 1, files: 1 });
    await sandbox.snapshots.remove('same');
  });
});

test('the same seed, time and calls give the same bytes', async () => {
  const said = async (port: number): Promise<{ port: number; bytes: string[] }> => {
    await using one = await startSandbox({
      seed: 7,
      port,
      now: '2026-01-01T00:00:00Z',
      samplesDir,
    });
    one.setClock('2026-01-02T00:00:00Z');
    one.make.channel({ name: 'Tests' });
    one.make.feed({ name: 'Tests', channel_id: 'ch_tests', type: 'podcast' });
    const { id } = await one.make.video({ title: 'One', channel_id: 'ch_tests' });
    one.make.plays({ video_id: id, seconds: 5 });
    one.advance(60_000);
    await one.make.video({ title: 'Two', channel_id: 'ch_tests' });
    const base = `http://127.0.0.1:${one.port}`;
    const headers = { authorization: `Bearer ${one.apiKey}` };
    const bytes = async (path: string, method = 'GET') => await (await fetch(base + path, { method, headers })).text();
    await bytes('/v1/feeds/feed_tests/publish', 'POST');
    const paths = [
      '/v1/videos',
      `/v1/videos/${id}`,
      '/v1/channels',
      '/v1/feeds',
      `/v1/analytics/videos?video_id=${id}`,
      '/v1/analytics/overview',
      '/feeds/feed_tests.xml',
    ];
    return { port: one.port, bytes: await Promise.all(paths.map((path) => bytes(path))) };
  };
  const first = await said(0);
  expect(await said(first.port)).toEqual(first);
  expect(first.bytes.every((text) => text.length > 10)).toBe(true);
});

test('a made video is in feeds of each type, also without sample files', async () => {
  await using one = await startSandbox({ processingMs: { min: 0, max: 0 } });
  const types = ['mrss', 'podcast', 'ctv'] as const;
  for (const type of types) one.make.feed({ name: `Own ${type}`, channel_id: 'ch_news', type });
  await one.make.video({ title: 'Made', channel_id: 'ch_news' });
  const headers = { authorization: `Bearer ${one.apiKey}` };
  const publish = async (type: string): Promise<Json> =>
    await (await fetch(`${one.baseUrl}/feeds/feed_own-${type}/publish`, { method: 'POST', headers })).json();
  const published = await Promise.all(types.map((type) => publish(type)));
  expect(published.map(({ video_count: count }: Json) => count)).toEqual([1, 1, 1]);
});
