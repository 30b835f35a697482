import { createHash } from 'node:crypto';
import type { FeedItem } from '../store/feeds.ts';
import {
  channelTitleOf,
  type FeedContent,
  IS_EXPLICIT,
  OWNER_EMAIL,
  PODCAST_CATEGORY,
  PODCAST_LOCKED,
} from './content.ts';
import { channelElements, enclosure, itemElements, rssDocument } from './rss.ts';
import { clipped, plainOf, wholeSeconds } from './text.ts';
import { element, textElement, type XmlElement } from './xml.ts';

/** iTunes namespace, spelled as in PSP-1; prefixes and names are case-sensitive. */
const ITUNES = 'http://www.itunes.com/dtds/podcast-1.0.dtd';
const PODCAST = 'https://podcastindex.org/namespace/1.0';

/**
 * A podcast feed: RSS 2.0 with every element that PSP-1 requires or recommends, plus `podcast:medium`, because its
 * episodes are videos.
 */
export function podcastDocument(content: FeedContent): string {
  const items = content.items.map((item) => itemElement(item, content));
  const author = clipped(plainOf(channelTitleOf(content)), PSP_LIMITS.titleCharacters);
  return rssDocument({ itunes: ITUNES, podcast: PODCAST }, [
    ...channelElements(content, PSP_LIMITS),
    element('itunes:category', { text: PODCAST_CATEGORY }),
    textElement('itunes:explicit', IS_EXPLICIT),
    artwork(content),
    textElement('itunes:author', author),
    // `itunes:owner` must precede the items. A directory emails this address to verify that the submitter owns the
    // feed.
    element('itunes:owner', {}, [textElement('itunes:name', author), textElement('itunes:email', OWNER_EMAIL)]),
    textElement('podcast:locked', PODCAST_LOCKED),
    textElement('podcast:guid', content.podcastGuid),
    textElement('podcast:medium', 'video'),
    ...items,
  ]);
}

const PSP_LIMITS = { titleCharacters: 255, descriptionBytes: 4000 };

function itemElement(item: FeedItem, content: FeedContent): XmlElement {
  const seconds = wholeSeconds(item.media.durationS);
  return element('item', {}, [
    ...itemElements(item, content, PSP_LIMITS),
    enclosure(item, content, ENCLOSURE_TYPES[item.media.mediaType]),
    seconds === undefined ? undefined : textElement('itunes:duration', seconds),
    textElement('itunes:explicit', IS_EXPLICIT),
    artwork(content),
  ]);
}

/** Returns the channel's artwork, for episodes too: a thumbnail is not square, so Apple rejects it. */
function artwork({ channelId, links }: FeedContent): XmlElement {
  return element('itunes:image', { href: links.artwork(channelId) });
}

/** Media types that Apple and PSP-1 spell differently. */
const ENCLOSURE_TYPES: Readonly<Record<string, string>> = { 'audio/mp4': 'audio/x-m4a' };

/**
 * Returns the podcast namespace's identifier for a feed: a UUID version 5 (RFC 9562 section 5.5) of the feed address
 * without scheme and trailing slashes. It is assigned once; a feed that moves keeps its identifier.
 */
export function podcastGuid(feedUrl: string): string {
  const seed = feedUrl.replace(/^[a-z]+:\/\//i, '').replace(/\/+$/, '');
  const bytes = createHash('sha1').update(NAMESPACE).update(seed, 'utf8').digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const NAMESPACE = Buffer.from('ead4c236bf5858c6a2c6a6b28d128cb6', 'hex');
