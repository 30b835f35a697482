import type { Call } from './call.ts';
import { NotFoundError } from './errors.ts';
import { requireWithin } from './settings.ts';
import type { Pages } from './video-client.ts';

interface Counted {
  readonly unreadable: number;
  /** Entries on all pages; null if the service does not say. */
  readonly total: number | null;
}

/** How a list is read in pages. */
export interface PageReader<Item, Page extends Counted> {
  /** @param page from 1 */
  ask(page: number): Call<Page>;
  itemsOf(page: Page): readonly Item[];
  /** The identity of an item; undefined: it has none, and each counts. */
  idOf(item: Item): string | undefined;
  /** Whether to ask for the next page. @param soFar entries of this page and all before it, unreadable ones included */
  hasMore(page: Page, soFar: number): boolean;
  /** Iterating ends after this many. */
  readonly limit: number | undefined;
}

/** @throws TypeError for a limit out of its range */
export function pagesOf<Item, Page extends Counted>(reader: PageReader<Item, Page>): Pages<Item, Page> {
  const most = limitOf(reader.limit);
  const atMost = (limit: number): AsyncGenerator<Item, void> => firstOf(eachOnce(reader), limit);
  return {
    page: (page) => reader.ask(page),
    toArray: async ({ limit } = {}) => await Array.fromAsync(atMost(limit === undefined ? most : limitOf(limit))),
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
 * Items that are added while the pages are read push others to later pages, so that some appear twice, and a whole page
 * may repeat. Twice in a row means a service that ignores `page`.
 */
const mostRepeats = 2;
/** This many consecutive pages without a new item mean the same, whatever the order of the items. */
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
 * Null instead of a 404 for the page after the last: api-spec section 4.1 has an empty page there, frameworks answer
 * 404. A list that breaks off in the middle must not look complete, so only if the pages before it were all of them.
 */
async function orEnd<Page>(asked: Call<Page>, isComplete: boolean): Promise<Page | null> {
  try {
    return await asked;
  } catch (error) {
    if (isComplete && error instanceof NotFoundError) return null;
    throw error;
  }
}
