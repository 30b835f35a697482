import type { Call } from './call.ts';
import { requireWithin } from './settings.ts';
import type { Pages } from './video-client.ts';

/** How a list is read in pages. */
export interface PageReader<Item, Page> {
  /** @param page from 1 */
  ask(page: number): Call<Page>;
  itemsOf(page: Page): readonly Item[];
  /** What tells two items apart; undefined: nothing does, and each counts. */
  idOf(item: Item): string | undefined;
  /** Whether to ask for the next page. @param soFar items of this page and all before it */
  hasMore(page: Page, soFar: number): boolean;
  /** Iterating ends after this many. */
  readonly limit: number | undefined;
}

/** @throws TypeError for a limit out of its range */
export function pagesOf<Item, Page>(reader: PageReader<Item, Page>): Pages<Item, Page> {
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
 * Items that are added while the pages are read push others to later pages, so that some come twice, and a whole page may repeat.
 * Twice in a row means a service that ignores `page`.
 */
const mostRepeats = 2;

async function* eachOnce<Item, Page>({
  ask,
  itemsOf,
  idOf,
  hasMore,
}: PageReader<Item, Page>): AsyncGenerator<Item, void> {
  const seen = new Set<string>();
  let before = '';
  let repeats = 0;
  let soFar = 0;
  for (let number = 1; repeats < mostRepeats; number += 1) {
    const page = await ask(number);
    const items = itemsOf(page);
    if (items.length === 0) return;
    const ids = JSON.stringify(items.map((item) => idOf(item) ?? item));
    repeats = ids === before ? repeats + 1 : 0;
    before = ids;
    soFar += items.length;
    for (const item of items) {
      const id = idOf(item);
      if (id !== undefined && seen.has(id)) continue;
      if (id !== undefined) seen.add(id);
      yield item;
    }
    if (!hasMore(page, soFar)) return;
  }
}
