import type { FeedItem } from '../store/feeds.ts';
import { channelTitleOf, descriptionOf, mediaUrlOf, tagsOf, titleOf, type FeedContent, LANGUAGE } from './content.ts';
import { channelElements, enclosure, itemElements, rssDocument } from './rss.ts';
import { clipped, lineOf, plainOf, wholeSeconds } from './text.ts';
import { element, textElement, type XmlElement } from './xml.ts';
import { THUMBNAIL_SIZE } from '../media/ffmpeg.ts';

/** Media RSS namespace. Without the trailing slash, readers do not recognise it. */
const MEDIA_RSS = 'http://search.yahoo.com/mrss/';

/** Google Ad Manager reads at most this many items per document and follows `atom:link rel="next"`. */
export const MRSS_PAGE_ITEMS = 100;

/** One page of an MRSS feed: RSS 2.0 with Media RSS 1.5.1, as Roku and Google Ad Manager require it. */
export function mrssDocument(content: FeedContent): string {
  const items = content.items.map((item) => itemElement(item, content));
  return rssDocument({ media: MEDIA_RSS }, [...channelElements(content, NO_LIMITS), ...items]);
}

const NO_LIMITS = { titleCharacters: Infinity, descriptionBytes: Infinity };

function itemElement(item: FeedItem, content: FeedContent): XmlElement {
  const elements = itemElements(item, content, NO_LIMITS);
  return element('item', {}, [...elements, enclosure(item, content), mediaContent(item, content)]);
}

/**
 * Returns `media:content` without a `media:group`, which is for alternatives, and without `media:hash`, which supports
 * only MD5 and SHA-1 (Media RSS 1.5.1).
 */
function mediaContent(item: FeedItem, content: FeedContent): XmlElement {
  const tags = tagsOf(item, Infinity).map((tag) => lineOf(tag.replaceAll(',', ' ')));
  const keywords = tags.filter((tag) => tag !== '').join(', ');
  return element('media:content', mediaAttributes(item, content), [
    textElement('media:title', plainOf(titleOf(item)), PLAIN),
    // Roku truncates `media:description` after 200 characters; the item's own `description` has the full text.
    textElement('media:description', clipped(plainOf(lineOf(descriptionOf(item))), 200), PLAIN),
    keywords === '' ? undefined : textElement('media:keywords', plainOf(keywords)),
    element('media:thumbnail', { url: content.links.thumbnail(item.videoId), ...THUMBNAIL_SIZE }),
    // Roku requires a category or keywords, and not every video has tags.
    textElement('media:category', plainOf(channelTitleOf(content))),
    element('media:player', { url: content.links.embed(item.videoId) }),
  ]);
}

const PLAIN = { type: 'plain' };

function mediaAttributes(item: FeedItem, { links }: FeedContent) {
  const { media } = item;
  return {
    url: mediaUrlOf(item, links),
    fileSize: media.sizeBytes,
    type: media.mediaType,
    medium: media.videoCodec === null ? 'audio' : 'video',
    isDefault: true,
    expression: 'full',
    bitrate: media.bitRate === null ? undefined : Math.max(1, Math.round(media.bitRate / 1000)),
    framerate: media.frameRate === null ? undefined : Number(media.frameRate.toFixed(3)),
    duration: wholeSeconds(media.durationS),
    height: media.height ?? undefined,
    width: media.width ?? undefined,
    lang: LANGUAGE,
  };
}
