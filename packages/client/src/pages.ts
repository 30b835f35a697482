import type { Call } from './call.ts';
import type { Caller } from './caller.ts';
import { NotFoundError } from './errors.ts';
import { analyticsKeys, requestKeys, requireKeys, videoQueryKeys } from './option-keys.ts';
import { checkOptions, requireWithin } from './settings.ts';
import type { AnalyticsQuery, Pages, RequestOptions, VideoQuery } from './video-client.ts';
import type { AnalyticsPage, Engagement } from './wire/analytics.ts';
import { analyticsPage, listVideos } from './wire/requests.ts';
import type { VideoListItem, VideoPage } from './wire/videos.ts';

/** The largest page size that the service allows (api-spec section 8). */
const mostPerPage = 100;

/** @throws TypeError the query or options are out of range */
export function videoPages(
  caller: Caller,
  { perPage = mostPerPage, limit, ...filter }: VideoQuery,
  options: RequestOptions,
): Pages<VideoListItem, VideoPage> {
  requireKeys('videos.list', [filter, videoQueryKeys], [options, requestKeys]);
  requireWithin('perPage', perPage, [1, mostPerPage]);
  checkOptions(options);
  return pagesOf({
    ask: (page) => caller.call(() => listVideos({ ...filter, page: checkedPage(page), perPage }), options),
    itemsOf: ({ videos }) => videos,
    idOf: ({ id }) => id,
    // Only an empty page marks the end (api-spec section 4.1): `total` changes while pages are being read.
    hasMore: () => true,
    limit,
  });
}

/** @throws TypeError the query or options are out of range */
export function analyticsPages(
  caller: Caller,
  { limit, ...query }: AnalyticsQuery,
  options: RequestOptions,
): Pages<Engagement, AnalyticsPage> {
  requireKeys('analytics.videos', [query, analyticsKeys], [options, requestKeys]);
  checkOptions(options);
  return pagesOf({
    ask: (page) => caller.call(() => analyticsPage({ ...query, page: checkedPage(page) }), options),
    itemsOf: ({ records }) => records,
    idOf: ({ videoId }) => videoId,
    // The specification does not describe paging here, so ask for another page only if `total` exceeds the records
    // received.
    hasMore: ({ total }, soFar) => total !== null && total > soFar,
    limit,
  });
}

function checkedPage(page: number): number {
  requireWithin('page', page, [1, Number.MAX_SAFE_INTEGER]);
  return page;
}

interface Counted {
  readonly unreadable: number;
  /** Number of entries on all pages; null if the service does not report it. */
  readonly total: number | null;
}

/** Describes how to read a paged list. */
interface PageReader<Item, Page extends Counted> {
  /** @param page from 1 */
  ask(page: number): Call<Page>;
  itemsOf(page: Page): readonly Item[];
  /** Returns the id of an item. Items without one (undefined) are never treated as duplicates. */
  idOf(item: Item): string | undefined;
  /** Whether to request the next page. @param soFar entries on this and all earlier pages, including unreadable ones */
  hasMore(page: Page, soFar: number): boolean;
  /** Maximum number of items to iterate over. */
  readonly limit: number | undefined;
}

/** @throws TypeError the limit is out of range */
function pagesOf<Item, Page extends Counted>(reader: PageReader<Item, Page>): Pages<Item, Page> {
  const most = limitOf(reader.limit);
  const atMost = (limit: number): AsyncGenerator<Item, void> => firstOf(eachOnce(reader), limit);
  return {
    page: (page) => reader.ask(page),
    toArray: async (options = {}) => {
      requireKeys('toArray', [options, { limit: true }]);
      return await Array.fromAsync(atMost(options.limit === undefined ? most : limitOf(options.limit)));
    },
    [Symbol.asyncIterator]: () => atMost(most),
  };
}

function limitOf(limit: number | undefined): number {
  if (limit === undefined || limit === Infinity) return Infinity;
  requireWithin('limit', limit, [0, Number.MAX_SAFE_INTEGER]);
  return limit;
}

async function* firstOf<T>(items: AsyncGenerator<T, void>, limit: number): AsyncGenerator<T, void> {
  if (limit === 0) return;
  let given = 0;
  for await (const item of items) {
    given += 1;
    yield item;
    if (given === limit) return;
  }
}

/**
 * Consecutive identical pages after which the service is assumed to ignore `page`. One repeat can occur legitimately:
 * items added while pages are being read push others onto later pages.
 */
const mostRepeats = 2;
/** Consecutive pages without a new item, in any order, after which the service is assumed to ignore `page`. */
const mostStale = 10;

async function* eachOnce<Item, Page extends Counted>({
  ask,
  itemsOf,
  idOf,
  hasMore,
}: PageReader<Item, Page>): AsyncGenerator<Item, void> {
  const seen = new Set<string>();
  let before = '';
  const isNew = (item: Item): boolean => {
    const id = idOf(item);
    if (id === undefined) return true;
    const isSeen = seen.has(id);
    seen.add(id);
    return !isSeen;
  };
  let repeats = 0;
  let stale = 0;
  let soFar = 0;
  let total: number | null = null;
  for (let number = 1; repeats < mostRepeats && stale < mostStale; number += 1) {
    const page: Page | null = await orEnd(ask(number), total !== null && total <= soFar);
    if (page === null) return;
    const items = itemsOf(page);
    if (items.length + page.unreadable === 0) return;
    const ids = JSON.stringify(items.map((item) => idOf(item) ?? item));
    const isRepeated = items.length > 0 && ids === before;
    const fresh = isRepeated ? [] : items.filter(isNew);
    before = ids;
    repeats = isRepeated ? repeats + 1 : 0;
    stale = fresh.length === 0 ? stale + 1 : 0;
    soFar += items.length + page.unreadable;
    ({ total } = page);
    yield* fresh;
    if (!hasMore(page, soFar)) return;
  }
}

/**
 * Treats a 404 for the page after the last as the end of the list and returns null. Api-spec section 4.1 specifies an
 * empty page there, but frameworks answer 404. Applies only if the earlier pages were complete, so that a truncated
 * list does not look whole.
 */
async function orEnd<Page>(asked: Call<Page>, isComplete: boolean): Promise<Page | null> {
  try {
    return await asked;
  } catch (error) {
    if (isComplete && error instanceof NotFoundError) return null;
    throw error;
  }
}
