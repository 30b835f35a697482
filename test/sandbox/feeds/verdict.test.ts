import { describe, expect, test } from 'vitest';
import { verdictOf } from '../../../packages/sandbox/src/feeds/verdict.ts';
import { goodFeeds, planted, withFault } from './planted.ts';

const types = Object.keys(goodFeeds) as (keyof typeof goodFeeds)[];

describe('the verdict of a feed', () => {
  test.each(types)('has nothing to say of a good %s feed', (type) => {
    expect(verdictOf(goodFeeds[type], type)).toEqual([]);
  });

  test.each(planted.map((fault) => [fault.type, fault.fault, fault] as const))('%s: finds %s', (type, _what, fault) => {
    const findings = verdictOf(withFault(fault), type);
    expect(findings.map(({ rule }) => rule)).toContain(fault.rule);
    for (const { message } of findings) expect(message).not.toMatch(/undefined|\[object/);
  });

  test('names the item that breaks the rule', () => {
    const document = goodFeeds.podcast.replace('length="65182"', 'length="0"');
    expect(verdictOf(document, 'podcast')).toEqual([
      { rule: 'enclosure-length', message: expect.any(String), item: 'vid_first' },
    ]);
    const feed = goodFeeds.ctv.replace('"duration": 4', '"duration": 0');
    expect(verdictOf(feed, 'ctv')).toMatchObject([{ rule: 'schema:content.duration', item: 'vid_first' }]);
    expect(verdictOf(goodFeeds.mrss.replace(/<guid.*?<\/guid>/, ''), 'mrss')).toMatchObject([{ item: '#1' }]);
  });

  test('compares the address that a feed gives itself with that from which it was read', () => {
    const url = 'http://127.0.0.1:8080/feeds/feed_main.xml?page=2';
    expect(verdictOf(goodFeeds.mrss, 'mrss', url)).toEqual([]);
    const elsewhere = verdictOf(goodFeeds.podcast, 'podcast', 'http://127.0.0.1:9/feeds/feed_main.xml');
    expect(elsewhere).toEqual([{ rule: 'self-link', message: expect.stringContaining('http://127.0.0.1:9/') }]);
  });

  test('takes a plain text for what it is once its characters are written by number', () => {
    const wrong = goodFeeds.mrss.replace('All of it', 'Q&amp;A &lt;live&gt; &amp;amp; more');
    expect(verdictOf(wrong, 'mrss').map(({ rule }) => rule)).toEqual(['html-in-text']);
    const right = goodFeeds.mrss.replace('All of it', 'Q&#x26;A &#x3C;live&gt; &#x26;amp; more');
    expect(verdictOf(right, 'mrss')).toEqual([]);
    const harmless = goodFeeds.mrss.replace('All of it', 'R&amp;D, AT&amp;T, 1 &lt; 2, &amp;nosuch; &lt;3');
    expect(verdictOf(harmless, 'mrss')).toEqual([]);
  });

  test('takes an escaped backslash in JSON for no control character', () => {
    for (const backslashes of ['\\\\', '\\\\\\\\'])
      expect(verdictOf(goodFeeds.ctv.replace('"A clip"', `"A ${backslashes}u0085clip"`), 'ctv')).toEqual([]);
  });

  test('a document deeper than the stack gets a verdict too', () => {
    const deep = `${'['.repeat(100_000)}"\\u0085"${']'.repeat(100_000)}`;
    expect(verdictOf(deep, 'ctv').map(({ rule }) => rule)).toContain('characters');
  });

  test('refuses a page of more than 100 items', () => {
    const item = /<item>[^]*?<\/item>/.exec(goodFeeds.mrss)?.[0] ?? '';
    const many = Array.from({ length: 101 }, (_, index) => item.replaceAll('vid_first', `vid_${index}`)).join('');
    const document = goodFeeds.mrss.replace(/<item>[^]*<\/item>/, () => many);
    expect(verdictOf(document, 'mrss').map(({ rule }) => rule)).toEqual(['page-size']);
  });

  test.each(['', 'null', '[]', '{}', '<html></html>', '<rss version="2.0"/>', '{"assets":[null],"movies":[1]}'])(
    'finds something in %j, whatever it is taken for',
    (document) => {
      for (const type of types) expect(verdictOf(document, type)).not.toEqual([]);
    },
  );
});
