import { describe, expect, test } from 'vitest';
import { mrssDocument } from '../../../packages/sandbox/src/feeds/mrss.ts';
import { complaintsAbout } from './judges.ts';
import { readXml, type ReadElement } from './read-xml.ts';
import { hostileTexts, someContent, someItem } from './some-content.ts';

type Item = Parameters<typeof someItem>[0];

const written = (item: Item = {}) => mrssDocument(someContent({ items: [someItem(item)] }));
const at = (parent: ReadElement | undefined, ...names: string[]): ReadElement | undefined =>
  names.reduce((element, name) => element?.children.find((child) => child.name === name), parent);
const contentOf = (item: Item = {}) => at(readXml(written(item)), 'channel', 'item', 'media:content');

describe('an MRSS feed', () => {
  test('is RSS 2.0 with exactly the name of the Media RSS namespace', () => {
    const root = readXml(written());
    expect(root.name).toBe('rss');
    expect(Object.fromEntries(root.attributes)).toEqual({
      version: '2.0',
      'xmlns:atom': 'http://www.w3.org/2005/Atom',
      'xmlns:media': 'http://search.yahoo.com/mrss/',
    });
  });

  test('has what RSS 2.0 requires of a channel, with dates of RFC 822 and its own address', () => {
    const channel = at(readXml(mrssDocument(someContent({ items: [] }))), 'channel');
    expect(channel?.children.map(({ name, text }) => [name, text])).toEqual([
      ['title', 'Main'],
      ['link', 'http://127.0.0.1:8080/'],
      ['description', 'All of it'],
      ['language', 'en'],
      ['pubDate', 'Sat, 31 Jan 2026 12:00:00 GMT'],
      ['lastBuildDate', 'Sat, 31 Jan 2026 13:00:00 GMT'],
      ['generator', 'dropcast sandbox'],
      ['atom:link', ''],
    ]);
    expect(Object.fromEntries(at(channel, 'atom:link')?.attributes ?? [])).toEqual({
      href: 'http://127.0.0.1:8080/feeds/feed_main.xml',
      rel: 'self',
      type: 'application/rss+xml',
    });
  });

  test('leads to its other pages, and to none if there are none', async () => {
    const url = 'http://127.0.0.1:8080/feeds/feed_main.xml';
    const pages = { first: url, previous: `${url}?page=2`, next: `${url}?page=4`, last: `${url}?page=9` };
    const document = mrssDocument(someContent({ url: `${url}?page=3`, pages }));
    const links = [...document.matchAll(/<atom:link href="[^"]*xml([^"]*)" rel="([^"]*)"/g)];
    expect(links.map(([, query, rel]) => [rel, query])).toEqual([
      ['self', '?page=3'],
      ['first', ''],
      ['previous', '?page=2'],
      ['next', '?page=4'],
      ['last', '?page=9'],
    ]);
    expect(await complaintsAbout(document, 'mrss')).toEqual([]);
    expect(written().match(/<atom:link/g)).toHaveLength(1);
  });

  test('writes all elements of an item in a fixed order', () => {
    expect(written().split('<item>')[1]).toBe(`
      <guid isPermaLink="false">vid_1</guid>
      <title>A clip</title>
      <link>http://127.0.0.1:8080/embed/vid_1</link>
      <description>What is to be seen</description>
      <pubDate>Fri, 30 Jan 2026 09:05:00 GMT</pubDate>
      <enclosure url="http://127.0.0.1:8080/cdn/videos/vid_1.mp4" length="65182" type="video/mp4"/>
      <media:content url="http://127.0.0.1:8080/cdn/videos/vid_1.mp4" fileSize="65182" type="video/mp4" medium="video" isDefault="true" expression="full" bitrate="130" framerate="25" duration="4" height="180" width="320" lang="en">
        <media:title type="plain">A clip</media:title>
        <media:description type="plain">What is to be seen</media:description>
        <media:keywords>news, city</media:keywords>
        <media:thumbnail url="http://127.0.0.1:8080/cdn/thumbnails/vid_1.jpg" width="1280" height="720"/>
        <media:category>Main</media:category>
        <media:player url="http://127.0.0.1:8080/embed/vid_1"/>
      </media:content>
    </item>
  </channel>
</rss>
`);
  });

  test('gives durations in whole seconds, at least one, and bit rates in kbit/s', () => {
    expect(contentOf({ media: { durationS: 3.5, bitRate: 1_499_600 } })?.attributes.get('duration')).toBe('4');
    expect(contentOf({ media: { durationS: 0.2 } })?.attributes.get('duration')).toBe('1');
    expect(contentOf({ media: { bitRate: 1_499_600 } })?.attributes.get('bitrate')).toBe('1500');
    expect(contentOf({ media: { frameRate: 30_000 / 1001 } })?.attributes.get('framerate')).toBe('29.97');
  });

  test('leaves out unknown facts of the file', async () => {
    const media = { durationS: null, bitRate: null, frameRate: null, width: null, height: null, videoCodec: null };
    const document = written({ media: { ...media, mediaType: 'audio/mpeg', fileExtension: 'mp3' } });
    expect([...(at(readXml(document), 'channel', 'item', 'media:content')?.attributes.keys() ?? [])]).toEqual([
      'url',
      'fileSize',
      'type',
      'medium',
      'isDefault',
      'expression',
      'lang',
    ]);
    expect(document).toContain('medium="audio"');
    expect(document).not.toContain('null');
    expect(await complaintsAbout(document, 'mrss')).toEqual([]);
  });

  test('has no group around one content, and no SHA-256 in a media:hash, which does not know it', () => {
    expect(written()).not.toMatch(/media:group|media:hash/);
  });

  test('cuts media:description to the 200 characters of Roku, and leaves the description whole', async () => {
    const description = 'é😀 '.repeat(200).trim();
    const document = written({ description });
    const item = at(readXml(document), 'channel', 'item');
    expect(at(item, 'description')?.text).toBe(description);
    expect(Array.from(at(item, 'media:content', 'media:description')?.text ?? '').length).toBeLessThanOrEqual(200);
    expect(await complaintsAbout(document, 'mrss')).toEqual([]);
  });

  test('has a category even without tags, and uses the title for a missing description', async () => {
    const document = written({ tags: [], description: null });
    expect(document).toContain('<media:category>Main</media:category>');
    expect(document).not.toContain('media:keywords');
    expect(document).toContain('<media:description type="plain">A clip</media:description>');
    expect(await complaintsAbout(document, 'mrss')).toEqual([]);
  });

  test('a comma in a tag does not make two keywords of it', () => {
    expect(written({ tags: ['Paris, Texas', ',', 'news', 'news'] })).toContain(
      '<media:keywords>Paris Texas, news</media:keywords>',
    );
  });

  test('an item whose title has nothing to show is called by its id', () => {
    expect(written({ title: '\u0001\u0002' })).toContain('<title>vid_1</title>');
  });

  test('was never published: valid, without items and dates', async () => {
    const document = mrssDocument(someContent({ items: [], publishedAtMs: null }));
    expect(document).not.toMatch(/Date|<item/);
    expect(await complaintsAbout(document, 'mrss')).toEqual([]);
  });

  test.each(hostileTexts)('carries %j as title, description, tag and name of the channel', (text) => {
    const item = someItem({ title: text, description: text, tags: [text] });
    const document = mrssDocument(someContent({ title: text, description: text, items: [item] }));
    expect(document).not.toContain('<script');
    const read = at(readXml(document), 'channel', 'item');
    expect(at(read, 'title')?.text).toMatch(/wo\u0301?rd/);
    expect(at(read, 'description')?.text).not.toMatch(/<(?!br>)/);
  });

  test('carries a text of 10,000 characters', async () => {
    const document = written({ title: 'x'.repeat(10_000), description: '&'.repeat(10_000) });
    expect(await complaintsAbout(document, 'mrss')).toEqual([]);
  });
});
