import type { FeedItem } from '../store/feeds.ts';
import {
  channelDescriptionOf,
  channelTitleOf,
  descriptionOf,
  mediaUrlOf,
  titleOf,
  type FeedContent,
  LANGUAGE,
} from './content.ts';
import { clipped, clippedBytes, htmlOf, plainOf, rssTime } from './text.ts';
import { element, textElement, xmlDocument, type XmlElement } from './xml.ts';

/** Text limits per element. Only PSP-1 has any. */
interface RssLimits {
  readonly titleCharacters: number;
  readonly descriptionBytes: number;
}

const ATOM = 'http://www.w3.org/2005/Atom';

/** @param namespaces by prefix, in addition to Atom's @param children of the channel */
export function rssDocument(
  namespaces: Readonly<Record<string, string>>,
  children: readonly (XmlElement | undefined)[],
): string {
  const declarations = Object.entries(namespaces).map(([prefix, name]) => [`xmlns:${prefix}`, name] as const);
  const attributes = { version: '2.0', 'xmlns:atom': ATOM, ...Object.fromEntries(declarations) };
  return xmlDocument(element('rss', attributes, [element('channel', {}, children)]));
}

/** The elements of every RSS 2.0 channel. A feed that was never published has no dates. */
export function channelElements(content: FeedContent, limits: RssLimits): (XmlElement | undefined)[] {
  const { url, pages, publishedAtMs, changedAtMs, links } = content;
  return [
    textElement('title', clipped(plainOf(channelTitleOf(content)), limits.titleCharacters)),
    textElement('link', links.website()),
    textElement('description', clippedBytes(plainOf(channelDescriptionOf(content)), limits.descriptionBytes)),
    textElement('language', LANGUAGE),
    publishedAtMs === null ? undefined : textElement('pubDate', rssTime(publishedAtMs)),
    publishedAtMs === null ? undefined : textElement('lastBuildDate', rssTime(changedAtMs)),
    textElement('generator', 'dropcast sandbox'),
    atomLink('self', url),
    ...PAGE_LINKS.map((rel) => (pages[rel] === undefined ? undefined : atomLink(rel, pages[rel]))),
  ];
}

const PAGE_LINKS = ['first', 'previous', 'next', 'last'] as const;

function atomLink(rel: string, href: string): XmlElement {
  return element('atom:link', { href, rel, type: 'application/rss+xml' });
}

/** The elements of every RSS 2.0 item. The guid is the video's id: an address would change with the port. */
export function itemElements(item: FeedItem, { links }: FeedContent, limits: RssLimits): XmlElement[] {
  return [
    textElement('guid', item.videoId, { isPermaLink: false }),
    textElement('title', clipped(plainOf(titleOf(item)), limits.titleCharacters)),
    textElement('link', links.embed(item.videoId)),
    textElement('description', htmlOf(descriptionOf(item), limits.descriptionBytes)),
    textElement('pubDate', rssTime(item.createdAtMs)),
  ];
}

/**
 * Returns the enclosure of the media file, with the file's extension in the address and its exact length. The length is
 * never 0, because an empty file never becomes ready.
 */
export function enclosure(item: FeedItem, { links }: FeedContent, mediaType = item.media.mediaType): XmlElement {
  return element('enclosure', { url: mediaUrlOf(item, links), length: item.media.sizeBytes, type: mediaType });
}
