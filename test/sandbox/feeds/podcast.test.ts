import { describe, expect, test } from 'vitest';
import { podcastDocument } from '../../../packages/sandbox/src/feeds/podcast.ts';
import { complaintsAbout } from './judges.ts';
import { readXml } from './read-xml.ts';
import { hostileTexts, someContent, someItem } from './some-content.ts';

const written = (item: Parameters<typeof someItem>[0] = {}) =>
  podcastDocument(someContent({ items: [someItem(item)] }));

describe('a podcast feed', () => {
  test('has the namespaces of PSP-1, and everything that it requires and recommends', () => {
    expect(written().replace(/<item>[^]*<\/item>/, '')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0">
  <channel>
    <title>Main</title>
    <link>http://127.0.0.1:8080/</link>
    <description>All of it</description>
    <language>en</language>
    <pubDate>Sat, 31 Jan 2026 12:00:00 GMT</pubDate>
    <lastBuildDate>Sat, 31 Jan 2026 13:00:00 GMT</lastBuildDate>
    <generator>dropcast sandbox</generator>
    <atom:link href="http://127.0.0.1:8080/feeds/feed_main.xml" rel="self" type="application/rss+xml"/>
    <itunes:category text="Society &amp; Culture"/>
    <itunes:explicit>false</itunes:explicit>
    <itunes:image href="http://127.0.0.1:8080/cdn/artwork/ch_main.jpg"/>
    <itunes:author>Main</itunes:author>
    <itunes:owner>
      <itunes:name>Main</itunes:name>
      <itunes:email>podcast@example.com</itunes:email>
    </itunes:owner>
    <podcast:locked>no</podcast:locked>
    <podcast:guid>9b024349-ccf0-5f69-a609-6b82873eab3c</podcast:guid>
    <podcast:medium>video</podcast:medium>
    
  </channel>
</rss>
`);
  });

  test('has everything that PSP-1 requires and recommends of an episode', () => {
    expect(written().split('<item>')[1]?.split('</item>')[0]).toBe(`
      <guid isPermaLink="false">vid_1</guid>
      <title>A clip</title>
      <link>http://127.0.0.1:8080/embed/vid_1</link>
      <description>What is to be seen</description>
      <pubDate>Fri, 30 Jan 2026 09:05:00 GMT</pubDate>
      <enclosure url="http://127.0.0.1:8080/cdn/videos/vid_1.mp4" length="65182" type="video/mp4"/>
      <itunes:duration>4</itunes:duration>
      <itunes:explicit>false</itunes:explicit>
      <itunes:image href="http://127.0.0.1:8080/cdn/artwork/ch_main.jpg"/>
    `);
  });

  test('gives durations in whole seconds, and none when the file does not tell', async () => {
    expect(written({ media: { durationS: 3.5 } })).toContain('<itunes:duration>4</itunes:duration>');
    const unknown = written({ media: { durationS: null } });
    expect(unknown).not.toContain('itunes:duration');
    expect(await complaintsAbout(unknown, 'podcast')).toEqual([]);
  });

  test('calls M4A by the name that podcast apps know', async () => {
    const document = written({ media: { mediaType: 'audio/mp4', fileExtension: 'm4a' } });
    expect(document).toContain('vid_1.m4a" length="65182" type="audio/x-m4a"/>');
    expect(await complaintsAbout(document, 'podcast')).toEqual([]);
  });

  test('has QuickTime as Apple takes it', async () => {
    const document = written({ media: { mediaType: 'video/quicktime', fileExtension: 'mov' } });
    expect(document).toContain('vid_1.mov" length="65182" type="video/quicktime"/>');
    expect(await complaintsAbout(document, 'podcast')).toEqual([]);
  });

  test('cuts values to 255 characters and descriptions to 4,000 bytes', async () => {
    const long = '&😀'.repeat(3000);
    const document = podcastDocument(
      someContent({ title: long, description: long, items: [someItem({ title: long, description: long })] }),
    );
    expect(await complaintsAbout(document, 'podcast')).toEqual([]);
    const channel = readXml(document).children[0];
    const texts = Object.fromEntries((channel?.children ?? []).map(({ name, text }) => [name, text]));
    expect(Array.from(texts['title'] ?? '')).toHaveLength(255);
    expect(Array.from(texts['itunes:author'] ?? '')).toHaveLength(255);
    expect(Buffer.byteLength(texts['description'] ?? '')).toBeGreaterThan(3990);
  });

  test('was never published: valid, and without episodes', async () => {
    const document = podcastDocument(someContent({ items: [], publishedAtMs: null }));
    expect(document).not.toContain('<item');
    expect(await complaintsAbout(document, 'podcast')).toEqual([]);
  });

  test.each(hostileTexts)('carries %j', (text) => {
    const item = someItem({ title: text, description: text, tags: [text] });
    const document = podcastDocument(someContent({ title: text, description: text, items: [item] }));
    expect(document).not.toContain('<script');
  });
});
