import type { DatabaseSync } from 'node:sqlite';

/** The length of one list of videos, and the positions where its pages end. */
export interface KnownList {
  readonly total: number;
  /** Returns the position of the last of the first `count` videos. @returns null if unknown */
  startAfter(count: number): ListPosition | null;
  /** Remembers the position of the last of the first `count` videos. */
  remember(count: number, last: ListPosition): void;
}

/** A video's position in list order. */
export interface ListPosition {
  readonly createdAtMs: number;
  readonly number: number;
}

/**
 * Limits on the number of lists, because a caller can make up any number of filters, and on the positions kept for each
 * list.
 */
const MOST_LISTS = 50;
const MOST_PLACES = 2_000;

/**
 * Caches the length of each list of videos, and where the pages read so far ended, until a video is added, removed or
 * moved. SQLite steps over every row that it counts or that OFFSET skips; with this cache, reading pages in sequence
 * costs the same for each page. Triggers in the database report every change.
 */
export class KnownLists {
  readonly #database: DatabaseSync;
  readonly #lists = new Map<string, KnownList>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.function('forget_lists', () => {
      this.#lists.clear();
      return null;
    });
    for (const change of ['INSERT', 'DELETE', 'UPDATE OF status, channel_id, created_at_ms'])
      database.exec(
        `CREATE TEMP TRIGGER forget_lists_${change.slice(0, 6)} AFTER ${change} ON main.videos BEGIN SELECT forget_lists(); END`,
      );
  }

  /** Returns the named list, counting it if it is unknown. */
  get(name: string, count: () => number): KnownList {
    const known = this.#lists.get(name);
    if (known) return known;
    const list = createList(count());
    // Not cached within a transaction: a rollback would fire no trigger.
    if (this.#database.isTransaction) return list;
    if (this.#lists.size >= MOST_LISTS) this.#lists.clear();
    this.#lists.set(name, list);
    return list;
  }
}

function createList(total: number): KnownList {
  const places = new Map<number, ListPosition>();
  return {
    total,
    startAfter: (count) => places.get(count) ?? null,
    remember: (count, last) => {
      if (places.size >= MOST_PLACES) places.clear();
      places.set(count, last);
    },
  };
}
