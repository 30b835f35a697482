import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, type RunningSandbox } from './running-sandbox.ts';

describe('GET /videos (4.1)', () => {
  let service: RunningSandbox;
  let clockMs = Date.UTC(2026, 0, 1);
  const ids: string[] = [];
  const ready: string[] = [];

  beforeAll(async () => {
    service = await runSandbox({ nowMs: () => (clockMs += 10) });
    for (let index = 0; index < 27; index += 1)
      ids.unshift((await service.create({ channel_id: index % 2 === 0 ? 'ch_news' : 'ch_main' })).id);
    const video = await service.upload('clip.mp4', { channel_id: 'ch_podcast' });
    ids.unshift(video.id);
    ready.push(video.id);
  });
  afterAll(() => service.sandbox.close());

  const listed = async (query: string) => (await service.call('GET', `/videos${query}`)).body;

  test('4.1 lists 25 per page by default, newest first, with meta', async () => {
    const { data, meta } = await listed('');
    expect(data.map((video: { id: string }) => video.id)).toEqual(ids.slice(0, 25));
    expect(meta).toEqual({ page: 1, per_page: 25, total: 28 });
  });

  test('4.1 list items have exactly the seven fields', async () => {
    const { data } = await listed('?per_page=1');
    const fields = ['id', 'title', 'status', 'duration', 'created_at', 'thumbnail_url', 'embed_url'];
    expect(Object.keys(data[0]).toSorted()).toEqual(fields.toSorted());
    expect(data[0]).toMatchObject({ status: 'ready', duration: 4 });
  });

  test('4.1 a client that raises page until data is empty has read every video once', async () => {
    const seen: string[] = [];
    for (let page = 1; ; page += 1) {
      const { data } = await listed(`?page=${page}&per_page=10`);
      if (data.length === 0) break;
      seen.push(...data.map((video: { id: string }) => video.id));
    }
    expect(seen).toEqual(ids);
  });

  test('4.1 lists with per_page at most 100', async () => {
    expect((await service.call('GET', '/videos?per_page=100')).status).toBe(200);
    expect((await service.call('GET', '/videos?per_page=101')).status).toBe(422);
  });

  test('4.1 filters by channel_id and by status, alone and together', async () => {
    expect((await listed('?channel_id=ch_news')).meta.total).toBe(14);
    expect((await listed('?status=ready')).data.map((video: { id: string }) => video.id)).toEqual(ready);
    expect((await listed('?status=ready&channel_id=ch_podcast')).meta.total).toBe(1);
    expect((await listed('?status=ready&channel_id=ch_news')).meta.total).toBe(0);
    expect((await listed('?channel_id=ch_nobody')).data).toEqual([]);
  });

  test.each([
    '?status=pending',
    '?status=done',
    '?page=0',
    '?page=-1',
    '?page=1.5',
    '?page=x',
    '?page=',
    '?page=99999999999999999999',
    '?per_page=0',
    '?per_page=1e2',
    '?channel_id=',
    '?sort=title',
    '?page=1&page=2',
  ])('refuses %s with 422 invalid_request', async (query) => {
    expect(await service.call('GET', `/videos${query}`)).toMatchObject({
      status: 422,
      body: { error: { code: 'invalid_request' } },
    });
  });
});
