import type { Links } from '../http/links.ts';
import type { Records } from '../store/records.ts';
import { MAX_ITEMS, type Feed } from '../store/feeds.ts';
import type { FeedContent } from './content.ts';
import { ctvDocument } from './ctv.ts';
import { MRSS_PAGE_ITEMS, mrssDocument } from './mrss.ts';
import { podcastDocument, podcastGuid } from './podcast.ts';
import { rokuSearchDocument } from './roku-search.ts';

export interface FeedDocument {
  readonly contentType: string;
  readonly body: string;
}

export interface DocumentParts {
  readonly records: Pick<Records, 'feeds' | 'channels'>;
  readonly links: Links;
}

/** Selects a document of the feed. */
export interface Asked {
  /** Of an MRSS feed, from 1. Pages after the last are empty. */
  readonly page?: number | undefined;
  /** Of a CTV feed. */
  readonly profile?: 'roku-search' | undefined;
}

/** The feed as served: texts of its last publish, current addresses. A feed that was never published is valid and empty. */
export function feedDocument(parts: DocumentParts, feed: Feed, asked: Asked = {}): FeedDocument {
  const content = contentOf(parts, feed, feed.type === 'mrss' ? (asked.page ?? 1) : undefined);
  return WRITERS[feed.type](content, asked);
}

const RSS = 'application/rss+xml; charset=utf-8';
const JSON_TYPE = 'application/json';

const WRITERS: Readonly<Record<Feed['type'], (content: FeedContent, asked: Asked) => FeedDocument>> = {
  mrss: (content) => ({ contentType: RSS, body: mrssDocument(content) }),
  podcast: (content) => ({ contentType: RSS, body: podcastDocument(content) }),
  ctv: (content, { profile }) => ({
    contentType: JSON_TYPE,
    body: profile === 'roku-search' ? rokuSearchDocument(content) : ctvDocument(content),
  }),
};

/** @param page undefined = all items in one document */
function contentOf({ records, links }: DocumentParts, feed: Feed, page: number | undefined): FeedContent {
  const channel = records.channels.find(feed.channelId);
  const { publication } = feed;
  const url = links.feed(feed.id, feed.type);
  const limit = page === undefined ? MAX_ITEMS : MRSS_PAGE_ITEMS;
  const offset = page === undefined ? 0 : (page - 1) * MRSS_PAGE_ITEMS;
  const hasNext = page !== undefined && records.feeds.count(feed.id) > offset + limit;
  return {
    channelId: feed.channelId,
    title: publication?.channelName ?? channel?.name ?? feed.name,
    description: publication ? publication.channelDescription : (channel?.description ?? null),
    url: page === undefined || page === 1 ? url : `${url}?page=${page}`,
    nextUrl: hasNext ? `${url}?page=${page + 1}` : undefined,
    publishedAtMs: feed.lastPublishedAtMs,
    changedAtMs: publication?.changedAtMs ?? channel?.createdAtMs ?? 0,
    podcastGuid: publication?.podcastGuid ?? podcastGuid(url),
    items: records.feeds.items(feed.id, { limit, offset }),
    links,
  };
}
