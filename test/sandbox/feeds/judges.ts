import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { parseRssFeed } from 'feedsmith';
import { readFile } from 'node:fs/promises';
import partytime from 'podcast-partytime';
import Parser from 'rss-parser';
import { validateXML } from 'xmllint-wasm';
import type { FeedType } from '../../../packages/sandbox/src/store/feeds.ts';

/** Reads a feed as somebody else's program does. @returns what is wrong with it, nothing for a good one */
export type Judge = (document: string) => Promise<readonly string[]>;

/** Who judges which feed: none of them shares a line with the code that writes the feeds. */
export const judges: Readonly<Record<FeedType | 'roku-search', Readonly<Record<string, Judge>>>> = {
  mrss: { xmllint: byGrammar('mrss.rng'), 'rss-parser': byRssParser, feedsmith: byFeedsmith, bounds: byRssBounds },
  podcast: {
    xmllint: byGrammar('podcast.rng'),
    'rss-parser': byRssParser,
    feedsmith: byFeedsmith,
    'podcast-partytime': byPartytime,
    bounds: byRssBounds,
  },
  ctv: { ajv: bySchema('ctv.schema.json'), bounds: byJsonBounds },
  'roku-search': { ajv: bySchema('roku-search.schema.json'), bounds: byJsonBounds },
};

/** All complaints of all judges of this type, each with the name of who complains. */
export async function complaintsAbout(document: string, type: keyof typeof judges): Promise<string[]> {
  const all = Object.entries(judges[type]).map(async ([name, judge]) =>
    (await judge(document)).map((complaint) => `${name}: ${complaint}`),
  );
  return (await Promise.all(all)).flat();
}

function schemaFile(name: string): Promise<string> {
  return readFile(new URL(`schemas/${name}`, import.meta.url), 'utf8');
}

function byGrammar(name: string): Judge {
  return async (document) => {
    const { errors } = await validateXML({
      xml: [{ fileName: 'feed.xml', contents: document }],
      schema: await schemaFile(name),
      preload: [{ fileName: 'rss.rng', contents: await schemaFile('rss.rng') }],
      extension: 'relaxng',
    });
    return errors.map(({ message, loc }) => `line ${loc?.lineNumber ?? '?'}: ${message}`);
  };
}

function bySchema(name: string): Judge {
  return async (document) => {
    const ajv = addFormats.default(new Ajv({ allErrors: true, strictTypes: false }));
    const isValid = ajv.compile(JSON.parse(await schemaFile(name)) as object);
    try {
      if (isValid(JSON.parse(document))) return [];
    } catch (error) {
      return [String(error)];
    }
    return (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

async function byRssParser(document: string): Promise<string[]> {
  try {
    const feed = await new Parser().parseString(document);
    const missing = (['title', 'link', 'description', 'feedUrl'] as const).filter((field) => !feed[field]);
    return [...missing.map((field) => `no ${field}`), ...feed.items.flatMap(wrongInItem)];
  } catch (error) {
    return [String(error)];
  }
}

function wrongInItem(item: Parser.Item, index: number): string[] {
  const { title, guid, isoDate, enclosure } = item;
  return [
    ...(title && title === title.trim() ? [] : ['title']),
    ...(guid ? [] : ['guid']),
    ...(isoDate ? [] : ['pubDate']),
    ...(enclosure?.url && enclosure.type && Number(enclosure.length) > 0 ? [] : ['enclosure']),
  ].map((field) => `item ${index}: ${field}`);
}

async function byFeedsmith(document: string): Promise<string[]> {
  try {
    const feed = parseRssFeed(document);
    const links = feed.atom?.links?.filter(({ rel }) => rel === 'self') ?? [];
    return [
      ...(links.length === 1 ? [] : ['no self link']),
      ...(feed.items ?? []).flatMap((item, index) => {
        const [file] = item.enclosures ?? [];
        const [content] = item.media?.contents ?? [];
        return [
          ...(item.guid?.value && item.guid.isPermaLink === false ? [] : ['guid']),
          ...(file?.url && file.type && file.length ? [] : ['enclosure']),
          // A feed is MRSS or a podcast; which one shows in the names that the reader knows.
          ...((content?.url && content.thumbnails?.[0]?.url && content.isDefault === true) ||
          item.itunes?.explicit === false
            ? []
            : ['neither media:content nor itunes:explicit']),
        ].map((field) => `item ${index}: ${field}`);
      }),
    ];
  } catch (error) {
    return [String(error)];
  }
}

async function byPartytime(document: string): Promise<string[]> {
  const feed = partytime.parseFeed(document);
  if (!feed) return ['this is no feed'];
  const stated = (document.match(/<item>/g) ?? []).length;
  return [
    ...(feed.items.length === stated ? [] : [`${stated} items are stated, ${feed.items.length} are episodes`]),
    ...(feed.explicit ? ['explicit'] : []),
    ...(feed.itunesImage ? [] : ['no artwork']),
    ...(feed.itunesCategory?.length ? [] : ['no category']),
    ...(feed.guid ? [] : ['no podcast:guid']),
    ...(String(feed.medium) === 'video' ? [] : ['no medium']),
    ...feed.items.flatMap(({ guid, enclosure, pubDate, duration }) =>
      guid && enclosure.length > 0 && pubDate && Number.isInteger(duration) ? [] : [`item ${guid}`],
    ),
  ];
}

/** The rules of RSS, of its podcasts and of the W3C's feed validator that a grammar cannot hold. */
async function byRssBounds(document: string): Promise<string[]> {
  const all = (pattern: RegExp) => [...document.matchAll(pattern)].map(([, found = '']) => found);
  const linkTo = (rel: string) => all(new RegExp(`<atom:link href="([^"]*)" rel="${rel}"`, 'g'))[0];
  const [self, first, previous, next] = ['self', 'first', 'previous', 'next'].map(linkTo);
  const isPodcast = document.includes('xmlns:podcast');
  return [
    ...repeatedIn(all(/<guid[^>]*>([^<]*)</g)),
    ...repeatedIn(all(/<enclosure url="([^"]*)"/g)),
    ...all(/<(?:pubDate|lastBuildDate)>([^<]*)</g).filter((date) => new Date(date).toUTCString() !== date),
    ...all(/<description>([^<]*)</g).filter((text) => isPodcast && Buffer.byteLength(readText(text)) > 4000),
    ...(/&(?:amp|lt);|<!\[CDATA/.test(document.replaceAll(/<\/?[\w:]+[^<>]*>/g, '')) ? ['HTML in a text'] : []),
    ...(next === self || previous === self ? ['another page that is this one'] : []),
    ...(first !== undefined && first !== self && previous === undefined ? ['no way back'] : []),
  ];
}

function readText(source: string): string {
  return source.replaceAll(/&#x(\w+);/g, (_reference, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
}

async function byJsonBounds(document: string): Promise<string[]> {
  const ids: string[] = [];
  const texts: string[] = [];
  try {
    JSON.parse(document, (name, value: unknown) => {
      texts.push(name, String(value));
      if (name === 'id') ids.push(String(value));
      return value;
    });
  } catch {
    return []; // the schema's complaint
  }
  const times = texts.filter((text) => /^\d{4}-\d\d-\d\dT/.test(text));
  return [
    ...repeatedIn(ids),
    ...times.filter((time) => Number.isNaN(Date.parse(time))),
    ...texts.filter((text) => /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\ufffd]/u.test(text)),
  ];
}

function repeatedIn(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) < index);
}
