import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { RemoteVideo, VideoLibrary } from '../file/ports.ts';

/** What a sweep found out about the files in processing, and what it cost. */
export interface SweepResult {
  readonly seen: ReadonlyMap<string, RemoteVideo>;
  /** Videos the service answered 404 for when asked by id; absence from a list proves nothing. */
  readonly gone: readonly string[];
  /** Videos that were asked for by id, but the service could not tell. */
  readonly unanswered: readonly string[];
  readonly requests: number;
  /** Why the service does not list videos, while it may still answer for single ones. */
  readonly listFailure: Failure | null;
  /** Set when the service could not be asked and the sweep ended early. */
  readonly failure: Failure | null;
}

interface Findings {
  readonly seen: Map<string, RemoteVideo>;
  readonly gone: string[];
  readonly unanswered: string[];
  requests: number;
}

/** Videos no list page showed are asked for by id, so many per sweep; the others wait for the next one. */
const mostById = { beside: 5, instead: 20 } as const;

/** So many reasons are asked for per sweep: when all fail, the budget is worth more than to hear of each why. */
const mostReasons = 20;

/**
 * Asks for the state of all files in processing with as few requests as possible: pages of the list from the end where the
 * newest videos are, then single videos by id. Which end that is, is learnt from `created_at`. A list that fails is done without.
 *
 * @param processing oldest first
 * @param turns ids in the order in which they were last asked for; kept from sweep to sweep, so that all get their turn
 */
export async function sweep(
  processing: readonly Facts[],
  library: Pick<VideoLibrary, 'list' | 'get'>,
  signal: AbortSignal,
  turns: string[] = [],
): Promise<SweepResult> {
  const wanted = new Set(processing.flatMap((facts) => facts.videoId ?? []));
  const result: Findings = { seen: new Map(), gone: [], unanswered: [], requests: 0 };
  const listFailure = wanted.size > 1 ? await sweepPages(wanted, library, signal, result) : null;
  if (listFailure !== null && isOfAll(listFailure)) return { ...result, listFailure: null, failure: listFailure };
  const most = listFailure === null ? mostById.beside : mostById.instead;
  const failure =
    (await askReasons(library, signal, result)) ??
    (await askById(inTurn([...wanted], turns, most), library, signal, { result, isListed: listFailure === null }));
  return { ...result, listFailure, failure };
}

/** Nothing else that is asked now can get an answer. */
function isOfAll({ kind }: Failure): boolean {
  return kind === 'offline' || kind === 'suspended' || kind === 'throttled';
}

/** So many failures of two ways to ask are the service's, not those of single videos. */
const mostUnanswered = 2;

/** @returns why the service cannot be asked, or null */
async function askById(
  ids: readonly string[],
  library: Pick<VideoLibrary, 'get'>,
  signal: AbortSignal,
  { result, isListed }: { readonly result: Findings; readonly isListed: boolean },
): Promise<Failure | null> {
  let last: Failure | null = null;
  let hasAnswered = isListed && result.requests > 0;
  for (const id of ids) {
    const answer = await library.get(id, signal);
    result.requests += 1;
    hasAnswered ||= answer.ok || answer.failure.kind === 'gone';
    if (answer.ok) result.seen.set(id, answer.value);
    else if (answer.failure.kind === 'gone') result.gone.push(id);
    else {
      last = answer.failure;
      result.unanswered.push(id);
      if (isOfAll(last) || (!hasAnswered && result.unanswered.length >= mostUnanswered)) return last;
    }
  }
  return hasAnswered ? null : last;
}

/** A list need not say why a video failed. */
async function askReasons(
  library: Pick<VideoLibrary, 'get'>,
  signal: AbortSignal,
  result: Findings,
): Promise<Failure | null> {
  const failed = [...result.seen.values()].filter(
    ({ status, message }) => status === 'failed' && message === undefined,
  );
  for (const { id } of failed.slice(0, mostReasons)) {
    const answer = await library.get(id, signal);
    result.requests += 1;
    if (answer.ok) result.seen.set(id, answer.value);
    else if (answer.failure.kind !== 'gone') return answer.failure;
  }
  return null;
}

/** Those that were never asked for, oldest first, then those whose turn is longest ago. */
function inTurn(ids: readonly string[], turns: string[], most: number): readonly string[] {
  const known = new Set(turns);
  const wanted = new Set(ids);
  const next = [...ids.filter((id) => !known.has(id)), ...turns.filter((id) => wanted.has(id))].slice(0, most);
  const asked = new Set(next);
  turns.splice(0, turns.length, ...turns.filter((id) => wanted.has(id) && !asked.has(id)), ...next);
  return next;
}

async function sweepPages(
  wanted: Set<string>,
  library: Pick<VideoLibrary, 'list'>,
  signal: AbortSignal,
  result: Findings,
): Promise<Failure | null> {
  const mostVideos = wanted.size;
  let page = 1;
  let step = 1;
  let hasFound = false;
  for (let pages = 0; wanted.size > 0; pages += 1) {
    const answer = await library.list(page, signal);
    result.requests += 1;
    if (!answer.ok) return answer.failure;
    const { videos, perPage, total } = answer.value;
    const found = videos.filter(({ id }) => wanted.delete(id));
    for (const video of found) result.seen.set(video.id, video);
    const lastPage = total === null ? null : Math.ceil(total / perPage);
    // One more for the page that is not full, and one for the page that told the order.
    if (pages > Math.ceil(mostVideos / perPage)) return null;
    if (pages === 0 && isOldestFirst(videos) && lastPage !== null && lastPage > 1) {
      page = lastPage;
      step = -1;
      continue;
    }
    // A page without any of ours, behind one with ours, is older than all of them.
    if (videos.length === 0 || (hasFound && found.length === 0)) return null;
    hasFound ||= found.length > 0;
    page += step;
    if (page < 1 || (lastPage !== null && page > lastPage)) return null;
  }
  return null;
}

function isOldestFirst(videos: readonly RemoteVideo[]): boolean {
  const times = videos.flatMap((video) => video.createdAt ?? []);
  const [first, last] = [times.at(0), times.at(-1)];
  return first !== undefined && last !== undefined && first < last;
}

/**
 * Shares of the hourly budget that the sweeps may use once the first quick ones are spent: by themselves, when somebody rings, and while
 * the service lists nothing.
 */
const sustainedShares = { byItself: 0.08, rung: 0.25, byId: 0.25 } as const;

/** So many requests of an hour's sweeps are free of that limit: a small batch is seen soon. */
const quickRequests = 20;

/**
 * Pure: how long after a sweep the next one may start.
 *
 * @param pages requests the last sweep took
 * @param usedInHour requests that sweeps took in the last hour
 * @returns milliseconds
 */
export function nextSweepMs(of: {
  readonly cause?: keyof typeof sustainedShares;
  readonly intervalMs: number;
  readonly pages: number;
  readonly usedInHour: number;
  readonly requestsPerHour: number;
}): number {
  const perHour = of.requestsPerHour * sustainedShares[of.cause ?? 'byItself'];
  if (of.usedInHour < Math.min(quickRequests, perHour)) return of.intervalMs;
  return Math.max(of.intervalMs, (Math.max(1, of.pages) * 3_600_000) / perHour);
}

/** The longest that a file in processing is not asked about. */
const mostEarlyMs = 10 * 60_000;

/**
 * Pure: how long it is still too early to ask: no file is asked about before half the time that processing usually takes, at
 * most ten minutes.
 *
 * @param oldestMs how long the oldest file has been in processing
 * @returns milliseconds
 */
export function tooEarlyMs(oldestMs: number, usualMs: number | null): number {
  return Math.max(0, Math.min(mostEarlyMs, (usualMs ?? 0) / 2) - oldestMs);
}
