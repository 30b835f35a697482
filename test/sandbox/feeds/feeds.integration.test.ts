import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complaintsAbout } from './judges.ts';
import { runSandbox, type RunningSandbox } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

let service: RunningSandbox;
let nowMs = Date.UTC(2026, 0, 31, 12);
beforeAll(async () => {
  service = await runSandbox({ nowMs: () => nowMs, processingMs: { min: 0, max: 0 } });
});
afterAll(() => service.sandbox.close());

const addressOf = (path: string) => new URL(`/feeds/${path}`, service.sandbox.baseUrl).href;
const publish = async (feed: string) => (await service.call('POST', `/feeds/${feed}/publish`)).body;
const read = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(addressOf(path), init);
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const titlesIn = (document: string) => [...document.matchAll(/<media:title.*?>(.*?)</g)].map(([, title]) => title);

describe('publish (4.3)', () => {
  test('3 a publish refreshes the feed with the latest eligible videos, newest first', async () => {
    await service.upload('clip.mp4', { title: 'one' });
    nowMs += 1000;
    await service.upload('interview.mp3', { title: 'two' });
    await service.upload('truncated.mp4', { title: 'broken' });
    await service.create({ title: 'pending' });
    await service.upload('clip.mp4', { title: 'elsewhere', channel_id: 'ch_main' });
    expect(await publish('feed_news')).toMatchObject({ video_count: 2, published_at: new Date(nowMs).toISOString() });
    expect(titlesIn((await read('feed_news.xml')).text)).toEqual(['two', 'one']);
    await service.upload('lecture.mkv', { title: 'three' });
    expect(titlesIn((await read('feed_news.xml')).text)).toEqual(['two', 'one']);
    expect(await publish('feed_news')).toMatchObject({ video_count: 3 });
    expect(titlesIn((await read('feed_news.xml')).text)).toEqual(['three', 'two', 'one']);
  });

  test('each type takes the videos that its readers can play', async () => {
    for (const sample of ['clip.mp4', 'camera.mov', 'lecture.mkv', 'interview.mp3', 'broadcast.m2ts']) {
      await service.upload(sample, { title: sample, channel_id: 'ch_podcast' });
      await service.upload(sample, { title: sample, channel_id: 'ch_main' });
    }
    expect(await publish('feed_podcast')).toMatchObject({ video_count: 3 });
    expect((await read('feed_podcast.xml')).text.match(/type="(?:video|audio)[^"]*"/g)).toEqual([
      'type="audio/mpeg"',
      'type="video/quicktime"',
      'type="video/mp4"',
    ]);
    await publish('feed_tv');
    const { shortFormVideos } = JSON.parse((await read('feed_tv.json')).text);
    expect(shortFormVideos.map(({ title }: { title: string }) => title)).toEqual([
      'camera.mov',
      'clip.mp4',
      'elsewhere',
    ]);
  });

  test('texts of videos and channel change only with the next publish', async () => {
    const { id } = await service.upload('clip.mp4', { title: 'before', channel_id: 'ch_news' });
    await publish('feed_news');
    const { text: before } = await read('feed_news.xml');
    nowMs += 5000;
    await service.call('PATCH', `/videos/${id}`, { title: 'after', description: 'new', tags: ['new'] });
    await service.call('PATCH', '/channels/ch_news', { name: 'News & More', description: 'All of it' });
    expect((await read('feed_news.xml')).text).toBe(before);
    await publish('feed_news');
    const { text: after } = await read('feed_news.xml');
    expect(titlesIn(after)[0]).toBe('after');
    expect(after).toContain('<title>News &#x26; More</title>');
    expect(after).toContain('<description>All of it</description>');
  });

  test('3 a deleted video leaves every feed at once, and the feed has changed then', async () => {
    const { id } = await service.upload('clip.mp4', { title: 'gone', channel_id: 'ch_main' });
    await publish('feed_main');
    await publish('feed_tv');
    nowMs += 1000;
    const before = await read('feed_main.xml');
    expect(before.headers.get('last-modified')).toBe(new Date(nowMs - 1000).toUTCString());
    nowMs += 5000;
    const deletedAt = new Date(nowMs).toUTCString();
    await service.call('DELETE', `/videos/${id}`);
    nowMs += 1000;
    for (const feed of ['feed_main.xml', 'feed_tv.json', 'feed_tv.json?profile=roku-search'])
      expect((await read(feed)).text).not.toContain(id);
    const after = await read('feed_main.xml', {
      headers: { 'if-modified-since': before.headers.get('last-modified') ?? '' },
    });
    expect(after.status).toBe(200);
    expect(after.headers.get('last-modified')).toBe(deletedAt);
    expect(after.text).toContain(`<lastBuildDate>${deletedAt}</lastBuildDate>`);
  });
});

describe('the feed address', () => {
  test('answers without a key, with its media type, also to scripts of other sites', async () => {
    const { status, headers } = await read('feed_news.xml');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/rss+xml; charset=utf-8');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect((await read('feed_tv.json')).headers.get('content-type')).toBe('application/json');
  });

  test('is the address that GET /feeds gives', async () => {
    for (const { url, type } of (await service.call('GET', '/feeds')).body.data)
      expect(await complaintsAbout(await (await fetch(url)).text(), type)).toEqual([]);
  });

  test('HEAD answers the length of GET, and no body', async () => {
    const whole = await read('feed_news.xml');
    const head = await read('feed_news.xml', { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(whole.text)));
    expect(head.headers.get('etag')).toBe(whole.headers.get('etag'));
  });

  test('answers 304 to a reader that has it, until the next change', async () => {
    await publish('feed_news');
    nowMs += 1000;
    const { headers } = await read('feed_news.xml');
    const etag = headers.get('etag') ?? '';
    const lastModified = headers.get('last-modified') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const ask of [
      { 'if-none-match': etag },
      { 'if-none-match': `"other", W/${etag}` },
      { 'if-none-match': '*' },
    ]) {
      const answer = await read('feed_news.xml', { headers: ask });
      expect(answer).toMatchObject({ status: 304, text: '' });
      expect(answer.headers.get('etag')).toBe(etag);
    }
    expect((await read('feed_news.xml', { headers: { 'if-modified-since': lastModified } })).status).toBe(304);
    for (const ask of [
      { 'if-none-match': '"other"', 'if-modified-since': lastModified },
      { 'if-modified-since': new Date(nowMs - 60_000).toUTCString() },
      { 'if-modified-since': 'yesterday' },
    ])
      expect((await read('feed_news.xml', { headers: ask })).status).toBe(200);
    nowMs += 1000;
    await publish('feed_news');
    expect((await read('feed_news.xml', { headers: { 'if-none-match': etag } })).status).toBe(200);
  });

  test('a reader that compares only dates sees a second publish in the same second', async () => {
    nowMs = Math.ceil(nowMs / 1000) * 1000;
    await publish('feed_news');
    const first = await read('feed_news.xml');
    const date = new Date(nowMs).toUTCString();
    expect(first.headers.get('last-modified')).toBeNull();
    nowMs += 900;
    const { id } = await service.upload('clip.mp4', { title: 'of the same second' });
    await publish('feed_news');
    expect((await read('feed_news.xml', { headers: { 'if-modified-since': date } })).text).toContain(id);
    nowMs += 100;
    const last = await read('feed_news.xml');
    expect(last.headers.get('last-modified')).toBe(date);
    expect((await read('feed_news.xml', { headers: { 'if-modified-since': date } })).status).toBe(304);
  });

  test('a Range is answered with the whole', async () => {
    expect((await read('feed_news.xml', { headers: { range: 'bytes=0-9' } })).status).toBe(200);
  });

  test.each([
    ['feed_news.json', 404],
    ['feed_tv.xml', 404],
    ['feed_nobody.xml', 404],
    ['feed_news', 404],
    ['feed_news.xml/more', 404],
    ['%00.xml', 404],
    ['..%2f..%2fetc%2fpasswd.xml', 404],
    ['feed_news.xml%0d%0aX: y', 404],
    ['feed_news.xml?page=0', 422],
    ['feed_news.xml?page=1e9', 422],
    ['feed_podcast.xml?page=0', 422],
    ['feed_tv.json?profile=roku-search&page=x', 422],
    ['feed_news.xml?page=1&page=2', 422],
    ['feed_tv.json?profile=other', 422],
  ])('%s is refused in the given form', async (path, status) => {
    const answer = await read(path);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toEqual({ error: { code: expect.any(String), message: expect.any(String) } });
  });

  test('a page behind the last is a valid feed without items', async () => {
    const { status, text } = await read('feed_news.xml?page=2');
    expect([status, titlesIn(text), await complaintsAbout(text, 'mrss')]).toEqual([200, [], []]);
    expect(text).toContain(`<atom:link href="${addressOf('feed_news.xml?page=2')}" rel="self"`);
    const podcast = await read('feed_podcast.xml?page=3');
    expect([podcast.status, await complaintsAbout(podcast.text, 'podcast')]).toEqual([200, []]);
    expect(podcast.text).toContain(`<atom:link href="${addressOf('feed_podcast.xml?page=3')}" rel="self"`);
    for (const rel of ['first', 'previous', 'last'])
      expect(podcast.text).toContain(`<atom:link href="${addressOf('feed_podcast.xml')}" rel="${rel}"`);
    expect(podcast.text).not.toMatch(/<item>|rel="next"/);
    expect(JSON.parse((await read('feed_tv.json?profile=roku-search&page=2')).text)).toMatchObject({ assets: [] });
  });

  test('parameters that others add are let pass', async () => {
    expect((await read('feed_news.xml?utm_source=a')).text).toBe((await read('feed_news.xml')).text);
  });

  test('can only be read', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await read('feed_news.xml', { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    }
    expect((await read('feed_news.xml', { method: 'OPTIONS' })).status).toBe(204);
  });
});

describe('a feed that was never published', () => {
  test('is valid and empty', async () => {
    await using fresh = await runSandbox();
    for (const { url, type, last_published_at } of (await fresh.call('GET', '/feeds')).body.data) {
      expect(last_published_at).toBeNull();
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(response.headers.get('last-modified')).toBeNull();
      const document = await response.text();
      expect(await complaintsAbout(document, type)).toEqual([]);
      expect(document).not.toMatch(/<item|"id"/);
    }
  });
});

describe('after a restart', () => {
  test('at a new address the feed keeps its content and the guid of its first publish', async () => {
    await using folder = await scratchDirectory();
    const guidIn = (document: string) => /<podcast:guid>(.*?)</.exec(document)?.[1];
    const documentOf = async (running: RunningSandbox) =>
      (await fetch(new URL('/feeds/feed_podcast.xml', running.sandbox.baseUrl))).text();
    const first = await runSandbox({ dataDir: folder.path });
    await first.upload('clip.mp4', { channel_id: 'ch_podcast' });
    await first.call('POST', '/feeds/feed_podcast/publish');
    const before = await documentOf(first);
    const { port } = first.sandbox;
    await first.sandbox.close();
    await using second = await runSandbox({ dataDir: folder.path });
    const after = await documentOf(second);
    expect(after).toBe(before.replaceAll(`:${port}/`, `:${second.sandbox.port}/`));
    await second.call('POST', '/feeds/feed_podcast/publish');
    expect(guidIn(await documentOf(second))).toBe(guidIn(before));
  });
});
