import type { Facts } from '../file/facts.ts';
import type { Failure, HostedVideo, Likeness } from '../file/failure.ts';
import { markerOf } from '../file/marker.ts';
import type { AdoptionStore, Clock, Listing, RemoteVideo, VideoLibrary } from '../file/ports.ts';
import type { RowStore } from '../file/row-groups.ts';
import type { Rows } from '../file/rows.ts';
import { createBackoffs } from './backoffs.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import { likenesses, titlesOf } from './likeness.ts';
import type { SweepWorld } from './sweep.ts';

export interface AdoptWorld {
  readonly store: RowStore<'to compare'> & AdoptionStore;
  readonly rows: Pick<Rows, 'claim'>;
  readonly library: Pick<VideoLibrary, 'get' | 'list'>;
  /** Whether videos have markers (`service.marker`). */
  readonly isMarking: () => boolean;
  readonly clock: Clock;
  readonly retry: () => RetryPolicy;
  /** The duration of a local file in seconds; null if its container does not contain one. */
  readonly durationOf: (facts: Pick<Facts, 'folder' | 'path'>) => Promise<number | null>;
  /**
   * Whether every folder with `existing: adopt` has been scanned, so that one pass over the list serves all of them.
   */
  readonly isArchiveSeen: () => boolean;
  readonly failed: SweepWorld['failed'];
}

export interface Comparison {
  /** Number of videos on the service; null if the service does not report it. */
  readonly videos: number | null;
  /** Share that has been read, from 0 to 1; null if unknown. */
  readonly share: number | null;
}

const mostFiles = 1_000_000;
const durationsAtOnce = 16;

/**
 * Compares files that existed before dropcast watched their folder with the service's videos (`existing: adopt`,
 * decision record 0054).
 */
export function createAdopt(world: AdoptWorld) {
  const { store, rows, library, clock } = world;
  const backoffs = createBackoffs(clock, () => ({ ...world.retry(), attempts: Infinity }));
  let progress: Comparison | null = null;

  const show = ({ nextPage, total, isWhole }: Listing, perPage: number): void => {
    const share = isWhole ? 1 : total === null ? null : Math.min(1, ((nextPage - 1) * perPage) / Math.max(1, total));
    progress = { videos: total, share };
  };

  const waitFor = async (refusal: Failure, signal: AbortSignal): Promise<null> => {
    const failure = await world.failed(refusal, signal);
    // A service that refuses to list its videos today may list them tomorrow.
    if (!backoffs.retryAfter(theList, failure)) backoffs.retryAfter(theList, { ...failure, kind: 'transient' });
    return null;
  };

  /** @returns null if a request failed or dropcast is stopping */
  const readList = async (signal: AbortSignal): Promise<Listing | null> => {
    let listing: Listing = (await store.listing()) ?? { nextPage: 1, total: null, isWhole: false };
    show(listing, usualPage);
    while (!listing.isWhole) {
      const page = await library.list(listing.nextPage, signal);
      if (signal.aborted) return null;
      if (!page.ok) return waitFor(page.failure, signal);
      const { videos, perPage, total } = page.value;
      listing = next(listing, { count: videos.length, perPage, total });
      await store.addListed(videos.map(hostedOf), listing);
      show(listing, perPage);
    }
    backoffs.forget(theList);
    return listing;
  };

  const compare = async (signal: AbortSignal): Promise<void> => {
    const waiting = await store.rows({ group: 'to compare', limit: mostFiles });
    const files = await mapped(waiting, async (facts) => {
      const duration = signal.aborted ? null : await world.durationOf(facts);
      return { id: facts.id, titles: titlesOf(facts), duration };
    });
    const found = likenesses(files, await store.listed());
    for (const facts of waiting) {
      if (signal.aborted) return;
      const likeness = await recognised(facts, found.get(facts.id), signal);
      if (likeness === null) return;
      if (likeness !== undefined) await note(facts.id, likeness);
    }
  };

  /**
   * Asks for the tags of the videos that a file may be, because lists do not contain them. The video with the file's
   * marker is the file's video. @returns null if a request failed or dropcast is stopping
   */
  const recognised = async (facts: Facts, likeness: Likeness | undefined, signal: AbortSignal) => {
    if (likeness === undefined || likeness.isSure || !world.isMarking()) return likeness;
    for (const video of likeness.videos.slice(0, mostAsked)) {
      const answer = await library.get(video.id, signal);
      if (signal.aborted) return null;
      if (!answer.ok && answer.failure.kind !== 'gone') return waitFor(answer.failure, signal);
      if (answer.ok && answer.value.status === 'ready' && answer.value.tags?.includes(markerOf(facts)) === true)
        return { videos: [video], isSure: true, doubt: null };
    }
    return likeness;
  };

  const isAnyLeft = async (): Promise<boolean> => (await store.rows({ group: 'to compare', limit: 1 })).length > 0;

  const note = async (id: string, likeness: Likeness): Promise<void> => {
    await rows.claim(id, async (row) => {
      const { lastFailure, end } = row.facts;
      if (end !== 'held' || lastFailure?.code !== 'existing') return;
      const message = sentenceOf(likeness);
      await row.write({ why: message, lastFailure: { ...lastFailure, message, likeness } }, message);
    });
  };

  return {
    run: async (signal: AbortSignal): Promise<void> => {
      if (backoffs.isBackingOff(theList) || !world.isArchiveSeen()) return;
      if (!(await isAnyLeft())) {
        progress = null;
        return;
      }
      if ((await readList(signal)) === null) return;
      await compare(signal);
      // A row held by a step is compared with the same list once it is released.
      if (await isAnyLeft()) return;
      await store.forgetListing();
      progress = null;
    },
    progress: (): Comparison | null => progress,
  };
}

/** Maximum number of videos that are asked for their tags, for each file. */
const mostAsked = 5;

const theList = 'list';
const usualPage = 100;

/**
 * Returns the next page to read. Videos deleted during the listing shift others to earlier pages, so those pages are
 * read again.
 */
function next(
  { nextPage, total: before }: Listing,
  page: { readonly count: number; readonly perPage: number; readonly total: number | null },
): Listing {
  const { count, perPage, total } = page;
  const deleted = Math.max(0, (before ?? 0) - (total ?? before ?? 0));
  if (deleted > 0) return { nextPage: Math.max(1, nextPage - Math.ceil(deleted / perPage)), total, isWhole: false };
  return { nextPage: nextPage + 1, total, isWhole: count === 0 || (total !== null && nextPage * perPage >= total) };
}

function hostedOf({ id, title, duration, status }: RemoteVideo): HostedVideo {
  return { id, title: title ?? '', duration: duration ?? null, status };
}

function sentenceOf({ videos, isSure, doubt }: Likeness): string {
  const [first] = videos;
  if (first === undefined) return 'the service does not have it; `dropcast adopt --confirm` uploads it';
  if (isSure) return `the service already has it as ${first.id}; \`dropcast adopt --confirm\` adopts that video`;
  const ids = videos
    .slice(0, 3)
    .map(({ id }) => id)
    .join(', ');
  return `the service may already have it (${ids}): ${doubt ?? ''}; \`dropcast retry\` uploads it`;
}

async function mapped<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const left = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: durationsAtOnce }, worker));
  return results;
}
