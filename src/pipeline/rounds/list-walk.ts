import type { Failure } from '../file/failure.ts';
import type { ListedPage, RemoteVideo, VideoLibrary } from '../file/ports.ts';

export interface Walked {
  readonly found: readonly RemoteVideo[];
  readonly requests: number;
  /** Wanted videos that were on no page of this round; null if the round continues with the next call. */
  readonly unseen: readonly string[] | null;
  readonly failure: Failure | null;
}

/** A pass from the newest videos backwards, until no older page can contain a wanted one. */
interface Round {
  page: number;
  /** The page that revealed where the newest videos are. */
  first: number;
  isOrdered: boolean;
  misses: number;
  hasFound: boolean;
  readonly seen: Set<string>;
}

/**
 * Reads the list of videos from its newest end, in one go or a few pages at a time. `created_at` shows which end that
 * is; the result is remembered, so that finding it costs one request instead of one per round. Videos added or deleted
 * between two requests shift others across page boundaries. Those are seen twice, or in the next round.
 */
export class ListWalk {
  /** The number of the last page when last read, if the list starts with the oldest videos. */
  #lastPage: number | null = null;
  #round: Round | null = null;

  /** @param wanted ids to look for @param most maximum number of pages to read */
  async read(
    wanted: ReadonlySet<string>,
    library: Pick<VideoLibrary, 'list'>,
    signal: AbortSignal,
    most: number,
  ): Promise<Walked> {
    const round = (this.#round ??= this.#begin());
    const found: RemoteVideo[] = [];
    const unseen = new Set(wanted).difference(round.seen);
    for (let requests = 1; ; requests += 1) {
      const answer = await library.list(round.page, signal);
      if (!answer.ok) this.#round = null;
      if (!answer.ok) return { found, requests, unseen: [...unseen], failure: answer.failure };
      const ours = answer.value.videos.filter(({ id }) => unseen.delete(id));
      found.push(...ours);
      for (const { id } of ours) round.seen.add(id);
      const isOver = unseen.size === 0 || !this.#goOn(round, answer.value, ours.length > 0, wanted.size);
      if (isOver) this.#round = null;
      if (isOver || requests >= most) return { found, requests, unseen: isOver ? [...unseen] : null, failure: null };
    }
  }

  /** Reads a single page. @param behind its distance from the page with the newest videos */
  async glance(
    wanted: ReadonlySet<string>,
    library: Pick<VideoLibrary, 'list'>,
    signal: AbortSignal,
    behind: number,
  ): Promise<Walked> {
    const page = this.#lastPage === null ? 1 + behind : Math.max(1, this.#lastPage - behind);
    const answer = await library.list(page, signal);
    if (!answer.ok) return { found: [], requests: 1, unseen: [...wanted], failure: answer.failure };
    this.#newestPage(answer.value);
    return { found: answer.value.videos.filter(({ id }) => wanted.has(id)), requests: 1, unseen: null, failure: null };
  }

  #begin(): Round {
    const page = this.#lastPage ?? 1;
    return { page, first: page, isOrdered: false, misses: 0, hasFound: false, seen: new Set() };
  }

  /** Advances to the next page. @returns false if no further page can contain a wanted video */
  #goOn(round: Round, listed: ListedPage, hasOurs: boolean, wanted: number): boolean {
    if (!hasOurs) round.misses += 1;
    // Other uploaders' videos may be newer. One more page is allowed for the partly filled one, and another for the
    // page that revealed the order.
    if (round.misses > Math.ceil(wanted / listed.perPage) + 1) return false;
    const newest = round.isOrdered ? round.page : this.#newestPage(listed);
    round.isOrdered = true;
    if (newest === round.page) {
      // This page has no wanted video and an earlier one had: the walk has passed the oldest of them.
      if (listed.videos.length === 0 || (round.hasFound && !hasOurs)) return false;
      round.hasFound ||= hasOurs;
      round.page += this.#step();
      if (round.page === round.first) round.page += this.#step();
    } else round.page = newest;
    return round.page >= 1 && (listed.total === null || round.page <= Math.ceil(listed.total / listed.perPage));
  }

  #step(): number {
    return this.#lastPage === null ? 1 : -1;
  }

  /** Returns the page with the newest videos. A page with two different dates shows the order. */
  #newestPage({ videos, perPage, total }: ListedPage): number {
    const isOldestFirst = order(videos) ?? (this.#lastPage === null ? 'newest first' : 'oldest first');
    const last = total === null ? null : Math.max(1, Math.ceil(total / perPage));
    this.#lastPage = isOldestFirst === 'oldest first' && last !== 1 ? last : null;
    return this.#lastPage ?? 1;
  }
}

function order(videos: readonly RemoteVideo[]): 'oldest first' | 'newest first' | null {
  const times = videos.flatMap((video) => video.createdAt ?? []);
  const [first, last] = [times.at(0), times.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;
  return first < last ? 'oldest first' : 'newest first';
}
