import type { Links } from '../http/links.ts';
import type { Records } from '../store/records.ts';
import type { Feed } from '../store/feeds.ts';
import type { FeedContent, PageLinks } from './content.ts';
import { ctvDocument, rokuSearchDocument } from './ctv.ts';
import { MRSS_PAGE_ITEMS, mrssDocument } from './mrss.ts';
import { podcastDocument, podcastGuid } from './podcast.ts';

interface FeedDocument {
  readonly contentType: string;
  readonly body: string;
}

interface DocumentParts {
  readonly records: Pick<Records, 'feeds' | 'channels'>;
  readonly links: Links;
}

/** Selects one of a feed's documents. */
export interface Asked {
  /**
   * Page number from 1. Pages after the last are empty. A CTV feed without `profile` has only one: its format has no
   * pages.
   */
  readonly page?: number | undefined;
  /** CTV feeds only. */
  readonly profile?: 'roku-search' | undefined;
}

/**
 * Returns one page of the feed as served: texts from its last publish, current addresses. A feed that was never
 * published yields a valid, empty document.
 */
export function feedDocument(parts: DocumentParts, feed: Feed, asked: Asked = {}): FeedDocument {
  return WRITERS[feed.type](contentOf(parts, feed, asked), asked);
}

/**
 * Maximum number of items per document, and per read from the store. MRSS: what its readers accept. Others: keeps a
 * document to a few MB.
 */
const PAGE_ITEMS: Readonly<Record<Feed['type'], number>> = { mrss: MRSS_PAGE_ITEMS, podcast: 1000, ctv: 1000 };

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

function contentOf({ records, links }: DocumentParts, feed: Feed, asked: Asked): FeedContent {
  const channel = records.channels.find(feed.channelId);
  const { publication } = feed;
  const isPaged = feed.type !== 'ctv' || asked.profile === 'roku-search';
  const page = isPaged ? (asked.page ?? 1) : 1;
  const limit = PAGE_ITEMS[feed.type];
  const pageCount = isPaged ? Math.ceil(records.feeds.count(feed.id) / limit) : 1;
  const urlOf = (number: number) => pageUrl(links.feed(feed.id, feed.type), asked.profile, number);
  return {
    channelId: feed.channelId,
    title: publication?.channelName ?? channel?.name ?? feed.name,
    description: publication ? publication.channelDescription : (channel?.description ?? null),
    url: urlOf(page),
    pages: pageLinks(page, pageCount, urlOf),
    publishedAtMs: feed.lastPublishedAtMs,
    changedAtMs: publication?.changedAtMs ?? channel?.createdAtMs ?? 0,
    podcastGuid: publication?.podcastGuid ?? podcastGuid(links.feed(feed.id, feed.type)),
    items: records.feeds.items(feed.id, { limit, offset: (page - 1) * limit }),
    links,
  };
}

/** Returns a page's address. The first page uses the feed's own address. */
function pageUrl(feedUrl: string, profile: Asked['profile'], page: number): string {
  const query = new URLSearchParams({ ...(profile && { profile }), ...(page > 1 && { page: String(page) }) });
  return query.size === 0 ? feedUrl : `${feedUrl}?${query.toString()}`;
}

function pageLinks(page: number, pageCount: number, urlOf: (page: number) => string): PageLinks {
  if (pageCount <= 1 && page === 1) return {};
  const lastPage = Math.max(1, pageCount);
  return {
    first: urlOf(1),
    previous: page > 1 ? urlOf(Math.min(page - 1, lastPage)) : undefined,
    next: page < lastPage ? urlOf(page + 1) : undefined,
    last: urlOf(lastPage),
  };
}
