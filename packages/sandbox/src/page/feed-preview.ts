import { readXml, XmlError, type ReadElement } from '../feeds/xml-reader.ts';
import type { FeedType } from '../store/feeds.ts';

/** An item as a feed reader sees it; missing parts are '' or null. */
export interface PreviewItem {
  readonly id: string;
  readonly title: string;
  readonly picture: string | null;
  /** The date as written in the document. */
  readonly published: string;
  readonly seconds: number | null;
  readonly media: string;
}

/**
 * Returns the items as a feed reader shows them. @returns an empty list for a document that is not well-formed; the
 * verdict explains why
 */
export function previewOf(document: string, type: FeedType): PreviewItem[] {
  return type === 'ctv' ? ctvItems(document) : rssItems(document);
}

function rssItems(document: string): PreviewItem[] {
  try {
    const channel = childOf(readXml(document), 'channel');
    return (channel?.children ?? []).filter(({ name }) => name === 'item').map(rssItem);
  } catch (error) {
    if (error instanceof XmlError) return [];
    throw error;
  }
}

function rssItem(item: ReadElement): PreviewItem {
  const content = childOf(item, 'media:content');
  const picture = content && childOf(content, 'media:thumbnail')?.attributes.get('url');
  const seconds = Number(content?.attributes.get('duration') ?? textOf(item, 'itunes:duration'));
  return {
    id: textOf(item, 'guid'),
    title: textOf(item, 'title'),
    picture: picture ?? childOf(item, 'itunes:image')?.attributes.get('href') ?? null,
    published: textOf(item, 'pubDate'),
    seconds: seconds > 0 ? seconds : null,
    media: childOf(item, 'enclosure')?.attributes.get('type') ?? '',
  };
}

function childOf(element: ReadElement, name: string): ReadElement | undefined {
  return element.children.find((child) => child.name === name);
}

function textOf(element: ReadElement, name: string): string {
  return childOf(element, name)?.text.trim() ?? '';
}

/** The fields of our own document. Only the verdict treats the document as untrusted. */
interface CtvFeed {
  readonly shortFormVideos: readonly CtvVideo[];
  readonly movies: readonly CtvVideo[];
}

interface CtvVideo {
  readonly id: string;
  readonly title: string;
  readonly thumbnail: string;
  readonly content: {
    readonly dateAdded: string;
    readonly duration: number;
    readonly videos: readonly { videoType: string }[];
  };
}

function ctvItems(document: string): PreviewItem[] {
  const { shortFormVideos, movies } = JSON.parse(document) as CtvFeed;
  return [...shortFormVideos, ...movies].map(({ id, title, thumbnail, content }) => ({
    id,
    title,
    picture: thumbnail,
    published: content.dateAdded,
    seconds: content.duration,
    media: content.videos[0]?.videoType ?? '',
  }));
}
