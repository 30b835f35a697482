import type { DatabaseSync } from 'node:sqlite';

/** The length of one list of videos, and where its pages end. */
export interface KnownList {
  readonly total: number;
  /** @returns the last of the first `count` videos; null if unknown. */
  startAfter(count: number): ListPosition | null;
  /** Remembers the last of the first `count` videos. */
  remember(count: number, last: ListPosition): void;
}

/** The position of a video in the order of the lists. */
export interface ListPosition {
  readonly createdAtMs: number;
  readonly number: number;
}

/** Bounds for lists, because a caller can make up any number of filters, and for places in each. */
const MOST_LISTS = 50;
const MOST_PLACES = 2_000;

/**
 * The length of each list of videos and where the pages that were read ended, until a video is added, removed or moved.
 * SQLite walks over all rows that it counts and that OFFSET passes; with this, pages that are read one after the other
 * take the same time each. Triggers in the database report every change.
 */
export class KnownLists {
  readonly #database: DatabaseSync;
  readonly #lists = new Map<string, KnownList>();

  /** @param database with the table `videos` */
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

  /** The list of this name; counts an unknown one. */
  get(name: string, count: () => number): KnownList {
    const known = this.#lists.get(name);
    if (known) return known;
    const list = createList(count());
    // A transaction may roll back, which fires no trigger.
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
