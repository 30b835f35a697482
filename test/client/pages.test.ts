import nock from 'nock';
import { describe, expect, test } from 'vitest';

import type { VideoQuery } from '../../packages/client/src/video-client.ts';
import { NotFoundError, ServerError } from '../../packages/client/src/errors.ts';
import { openClient } from './open-client.ts';
import { base, mockExchanges } from './nocked.ts';

mockExchanges();

/** Answers page after page, in this order, and none beyond. */
function serve(pages: readonly (readonly string[])[], meta: object = {}): void {
  pages.forEach((ids, index) => {
    const data = ids.map((id) => ({ id, status: 'ready' }));
    nock(base)
      .get('/videos')
      .query({ page: index + 1, per_page: 100 })
      .reply(200, { data, meta });
  });
}

async function idsOf(videos: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of videos) ids.push(id);
  return ids;
}

describe('the list of videos', () => {
  test('continues until a page is empty, whatever total says', async () => {
    await using opened = openClient(base);
    serve([['a', 'b'], ['c'], []], { page: 1, per_page: 100, total: 1 });
    expect(await idsOf(opened.client.videos.list())).toEqual(['a', 'b', 'c']);
  });

  test.each<[string, number | undefined, boolean]>([
    ['as many videos as total says', 2, true],
    ['fewer videos than total says', 3, false],
    ['pages without a total', undefined, false],
  ])('meets a 404 after %s', async (_, total, isEnd) => {
    await using opened = openClient(base);
    serve([['a', 'b']], { page: 1, per_page: 2, ...(total !== undefined && { total }) });
    nock(base).get('/videos').query({ page: 2, per_page: 100 }).reply(404, {});
    const ids = idsOf(opened.client.videos.list());
    if (isEnd) expect(await ids).toEqual(['a', 'b']);
    else await expect(ids).rejects.toThrow(NotFoundError);
  });

  test('asks for a page when it is wanted, and not before', async () => {
    await using opened = openClient(base);
    serve([['a', 'b'], ['c']]);
    const list = opened.client.videos.list();
    expect(opened.requests).toHaveLength(0);
    const seen: [id: string, requests: number][] = [];
    for await (const { id } of list) {
      seen.push([id, opened.requests.length]);
      if (id === 'c') break;
    }
    expect(seen).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 2],
    ]);
  });

  test('gives each video once, also when others were added while it was read', async () => {
    await using opened = openClient(base);
    serve([['a', 'b'], ['b', 'c', 'b'], ['a', 'b'], ['d'], []]);
    expect(await idsOf(opened.client.videos.list())).toEqual(['a', 'b', 'c', 'd']);
  });

  test('continues when as many were added as a page holds, so that the page comes again', async () => {
    await using opened = openClient(base);
    serve([['a', 'b'], ['a', 'b'], ['c'], []]);
    expect(await idsOf(opened.client.videos.list())).toEqual(['a', 'b', 'c']);
  });

  test('ends when the service does not know pages', async () => {
    await using opened = openClient(base);
    const data = [{ id: 'a', status: 'ready' }];
    nock(base).get('/videos').query(true).times(3).reply(200, { data });
    expect(await idsOf(opened.client.videos.list())).toEqual(['a']);
    expect(opened.requests).toHaveLength(3);
  });

  test('ends when a service that does not know pages answers in another order each time', async () => {
    await using opened = openClient(base);
    const [a, b] = ['a', 'b'].map((id) => ({ id, status: 'ready' }));
    let asked = 0;
    nock(base)
      .get('/videos')
      .query(true)
      .times(11)
      .reply(() => [200, { data: (asked += 1) % 2 === 0 ? [b, a] : [a, b] }]);
    expect(await idsOf(opened.client.videos.list())).toEqual(['a', 'b']);
    expect(opened.requests).toHaveLength(11);
  });

  test('continues after a page of which nothing can be read', async () => {
    await using opened = openClient(base);
    serve([['a'], [''], [''], [''], ['b'], []]);
    expect(await idsOf(opened.client.videos.list())).toEqual(['a', 'b']);
    serve([['', 'a', '']]);
    expect(await opened.client.videos.list().page(1)).toMatchObject({ videos: [{ id: 'a' }], unreadable: 2 });
  });

  test('can be read twice', async () => {
    await using opened = openClient(base);
    const list = opened.client.videos.list();
    for (const _ of [1, 2]) {
      serve([['a'], []]);
      expect(await idsOf(list)).toEqual(['a']);
    }
  });

  test('as an array has as many as are wanted, with no page too many', async () => {
    await using opened = openClient(base);
    const list = opened.client.videos.list();
    serve([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect((await list.toArray({ limit: 4 })).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
    serve([['a', 'b']]);
    expect((await list.toArray({ limit: 1 })).map(({ id }) => id)).toEqual(['a']);
    serve([['a', 'b'], ['c'], []]);
    expect(await list.toArray()).toHaveLength(3);
    const asked = opened.requests.length;
    expect(await list.toArray({ limit: 0 })).toEqual([]);
    expect(opened.requests).toHaveLength(asked);
    await expect(list.toArray({ limit: -1 })).rejects.toThrow(TypeError);
  });

  test('ends after as many as the query wants, and reads no page beyond them', async () => {
    await using opened = openClient(base);
    serve([
      ['a', 'b'],
      ['b', 'c'],
    ]);
    const list = opened.client.videos.list({ limit: 3 });
    expect(await idsOf(list)).toEqual(['a', 'b', 'c']);
    expect(opened.requests).toHaveLength(2);
    expect(await idsOf(opened.client.videos.list({ limit: 0 }))).toEqual([]);
    for (const limit of [-1, 1.5, Number.NaN]) expect(() => opened.client.videos.list({ limit })).toThrow(TypeError);
  });

  test('can be asked for one page', async () => {
    await using opened = openClient(base);
    const query: VideoQuery = { channelId: 'ch_1', status: 'failed', perPage: 10 };
    const asked = { page: 7, per_page: 10, channel_id: 'ch_1', status: 'failed' };
    nock(base)
      .get('/videos')
      .query(asked)
      .reply(200, { data: [], meta: { page: 7, per_page: 10, total: 60 } });
    const list = opened.client.videos.list(query);
    expect(await list.page(7)).toEqual({ videos: [], page: 7, perPage: 10, total: 60, unreadable: 0 });
    for (const page of [0, -1, 1.5, Number.NaN]) await expect(list.page(page)).rejects.toThrow(TypeError);
  });

  test.each([0, 101, 2.5])('has no pages of %d', async (perPage) => {
    await using opened = openClient(base);
    expect(() => opened.client.videos.list({ perPage })).toThrow(/^perPage must be a whole number from 1 to 100/);
  });

  test('repeats a page that failed, and no other', async () => {
    await using opened = openClient(base);
    nock(base)
      .get('/videos?page=1&per_page=100')
      .reply(200, { data: [{ id: 'a', status: 'ready' }] })
      .get('/videos?page=2&per_page=100')
      .reply(503)
      .get('/videos?page=2&per_page=100')
      .reply(200, { data: [] });
    expect(await idsOf(opened.client.videos.list())).toEqual(['a']);
  });

  test('fails where a page does', async () => {
    await using opened = openClient(base, { maxRetries: 0 });
    nock(base)
      .get('/videos?page=1&per_page=100')
      .reply(200, { data: [{ id: 'a', status: 'ready' }] })
      .get('/videos?page=2&per_page=100')
      .reply(500)
      .get('/videos?page=1&per_page=100&channel_id=ch_0')
      .reply(404);
    await expect(idsOf(opened.client.videos.list())).rejects.toThrow(ServerError);
    await expect(opened.client.videos.list({ channelId: 'ch_0' }).toArray()).rejects.toThrow(NotFoundError);
  });
});
