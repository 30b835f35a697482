import { Hono } from 'hono';
import { beforeEach, describe, expect, test } from 'vitest';
import { Clock } from '../../../packages/sandbox/src/clock.ts';
import { Events, type SandboxEvent } from '../../../packages/sandbox/src/events.ts';
import { feedDocument, type Asked } from '../../../packages/sandbox/src/feeds/document.ts';
import { complaintsAbout } from './judges.ts';
import { Links } from '../../../packages/sandbox/src/http/links.ts';
import { Switchboard } from '../../../packages/sandbox/src/profiles/switchboard.ts';
import type { Services } from '../../../packages/sandbox/src/services.ts';
import { openRecords, type Records } from '../../../packages/sandbox/src/store/records.ts';
import { addDemoData } from '../../../packages/sandbox/src/account.ts';
import type { Feed } from '../../../packages/sandbox/src/store/feeds.ts';
import { playable } from '../playable.ts';
import { publishFeed } from '../../../packages/sandbox/src/http/channels-and-feeds.ts';

const links = new Links('http://127.0.0.1:8080', 'http://127.0.0.1:8080', 'jpg');
let records: Records;
let told: SandboxEvent[];
let publish: (feedId: string) => Promise<number>;
beforeEach(() => {
  records = openRecords(':memory:');
  addDemoData(records.channels, records.feeds, 0);
  told = [];
  const events = new Events();
  events.listen((event) => told.push(event));
  const lifecycle = { advance: () => undefined } as unknown as Services['lifecycle'];
  const switchboard = new Switchboard('default', {});
  const api = new Hono();
  api.post(
    '/feeds/:id/publish',
    publishFeed({ records, links, events, lifecycle, clock: new Clock(() => 5000), switchboard }),
  );
  publish = async (feedId) => {
    const response = await api.request(`/feeds/${feedId}/publish`, { method: 'POST' });
    const { video_count: videoCount } = (await response.json()) as { video_count: number };
    return videoCount;
  };
});

function addReady(count: number, channelId = 'ch_podcast'): void {
  const { videos, processing, database } = records;
  database.exec('BEGIN');
  for (let index = 0; index < count; index += 1) {
    const id = videos.create(
      {
        title: `clip ${index}`,
        description: null,
        channelId,
        tags: [],
        sourceUrl: null,
        createdAtMs: index,
      },
      (number) => `vid_${number}`,
    );
    const file = { videoId: id, sizeBytes: 10, sha256: 'ab' };
    processing.startProcessing(file, playable, { nowMs: 0, dueAtMs: 0 });
  }
  processing.finishDue(1);
  database.exec('COMMIT');
}

const feed = () => records.feeds.find('feed_podcast') as Feed;

describe('a publish', () => {
  test('takes more than 1,000, and freezes them: pages ask the store for their own items alone', async () => {
    addReady(2005);
    expect(await publish('feed_podcast')).toBe(2005);
    addReady(3);
    records.database.exec("UPDATE videos SET title = 'changed'");
    const asked: unknown[] = [];
    const feeds = {
      count: (id: string) => records.feeds.count(id),
      items: (id: string, range: { limit: number; offset: number }) => {
        asked.push(range);
        return records.feeds.items(id, range);
      },
    };
    const asking = { feeds, channels: records.channels } as unknown as Records;
    const pages = [1, 2, 3].map((page) => feedDocument({ records: asking, links }, feed(), { page }).body);
    expect(asked).toEqual([0, 1000, 2000].map((offset) => ({ limit: 1000, offset })));
    const titles = pages.flatMap((body) => [...body.matchAll(/<title>(clip \d+)</g)].map(([, title]) => title));
    expect(titles).toEqual(Array.from({ length: 2005 }, (_, index) => `clip ${2004 - index}`));
    const url = 'http://127.0.0.1:8080/feeds/feed_podcast.xml';
    for (const [index, page] of pages.entries()) {
      expect(await complaintsAbout(page, 'podcast')).toEqual([]);
      expect(page).toContain(`<atom:link href="${index === 0 ? url : `${url}?page=${index + 1}`}" rel="self"`);
    }
  });

  test('of a CTV feed has the newest 1,000, and pages for Roku Search', async () => {
    addReady(1001, 'ch_main');
    expect(await publish('feed_tv')).toBe(1001);
    const tv = records.feeds.find('feed_tv') as Feed;
    const ids = (asked: Asked) => feedDocument({ records, links }, tv, asked).body.match(/"id": "vid_\d+"/g) ?? [];
    expect(ids({})).toHaveLength(1000);
    expect(ids({ page: 2 })).toEqual(ids({}));
    const pages = [1, 2, 3].map((page) => feedDocument({ records, links }, tv, { page, profile: 'roku-search' }).body);
    expect(pages.map((body) => JSON.parse(body).nextPageUrl)).toEqual([
      'http://127.0.0.1:8080/feeds/feed_tv.json?profile=roku-search&page=2',
      undefined,
      undefined,
    ]);
    expect(pages.map((body) => JSON.parse(body).assets.length)).toEqual([1000, 1, 0]);
    for (const body of pages) expect(await complaintsAbout(body, 'roku-search')).toEqual([]);
  });

  test('takes no video that is still in processing, although its bytes are known', async () => {
    addReady(1);
    const fields = {
      title: 'soon',
      description: null,
      channelId: 'ch_podcast',
      tags: [],
      sourceUrl: null,
      createdAtMs: 9,
    };
    records.videos.create(fields, () => 'vid_soon');
    const time = { nowMs: 0, dueAtMs: 9000 };
    records.processing.startProcessing({ videoId: 'vid_soon', sizeBytes: 10, sha256: 'ab' }, playable, time);
    expect(await publish('feed_podcast')).toBe(1);
  });

  test('emits its event after the records have changed', async () => {
    addReady(1);
    await publish('feed_podcast');
    expect(told).toEqual([{ type: 'feed.published', id: 'feed_podcast' }]);
    expect(feed()).toMatchObject({
      lastPublishedAtMs: 5000,
      publication: { changedAtMs: 5000, channelName: 'Podcast' },
    });
  });

  test('is all or nothing', async () => {
    addReady(2);
    await publish('feed_podcast');
    addReady(1);
    records.database.exec("CREATE TRIGGER broken BEFORE UPDATE ON feeds BEGIN SELECT RAISE(ABORT, 'no'); END");
    const channel = { name: 'Podcast', description: null };
    expect(() => records.feeds.publish(feed(), channel, { atMs: 1, podcastGuid: 'x' })).toThrow('no');
    expect(records.feeds.count('feed_podcast')).toBe(2);
  });

  test('replaces the previous content', async () => {
    addReady(2);
    await publish('feed_podcast');
    await publish('feed_podcast');
    expect(records.feeds.items('feed_podcast', { limit: 10, offset: 0 }).map(({ videoId }) => videoId)).toEqual([
      'vid_2',
      'vid_1',
    ]);
  });

  test('a deleted video leaves the feeds it is in, and only their time changes', async () => {
    addReady(2);
    await publish('feed_podcast');
    await publish('feed_main');
    records.feeds.drop('vid_1', 6000);
    expect(records.feeds.count('feed_podcast')).toBe(1);
    expect(feed()).toMatchObject({ lastPublishedAtMs: 5000, publication: { changedAtMs: 6000 } });
    expect(records.feeds.find('feed_main')?.publication?.changedAtMs).toBe(5000);
  });

  test('of an MRSS feed has pages of 100, each leading to the next, and nothing behind the last', async () => {
    addReady(101, 'ch_news');
    expect(await publish('feed_news')).toBe(101);
    const news = records.feeds.find('feed_news') as Feed;
    const pages = [1, 2, 3].map((page) => feedDocument({ records, links }, news, { page }).body);
    expect(pages.map((page) => page.match(/<item>/g)?.length ?? 0)).toEqual([100, 1, 0]);
    expect(new Set(pages.flatMap((page) => page.match(/<guid.*/g) ?? [])).size).toBe(101);
    const url = 'http://127.0.0.1:8080/feeds/feed_news.xml';
    const addressesOf = (rel: string) =>
      pages.map((page) => new RegExp(`href="([^"]*)" rel="${rel}"`).exec(page)?.[1]?.replace(url, 'feed'));
    expect(addressesOf('self')).toEqual(['feed', 'feed?page=2', 'feed?page=3']);
    expect(addressesOf('first')).toEqual(['feed', 'feed', 'feed']);
    expect(addressesOf('previous')).toEqual([undefined, 'feed', 'feed?page=2']);
    expect(addressesOf('next')).toEqual(['feed?page=2', undefined, undefined]);
    expect(addressesOf('last')).toEqual(['feed?page=2', 'feed?page=2', 'feed?page=2']);
    for (const page of pages) expect(await complaintsAbout(page, 'mrss')).toEqual([]);
  });
});
