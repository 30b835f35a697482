import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { RemoteVideo, VideoLibrary } from '../file/ports.ts';

/** What a sweep found out about the files in processing, and what it cost. */
export interface SweepResult {
  readonly seen: ReadonlyMap<string, RemoteVideo>;
  /** Videos the service answered 404 for when asked by id; absence from a list proves nothing. */
  readonly gone: readonly string[];
  readonly requests: number;
  /** Set when a request failed and the sweep ended early. */
  readonly failure: Failure | null;
}

/** Videos no list page showed are asked for by id, so many per sweep; the others wait for the next one. */
const mostById = 5;

/** So many reasons are asked for per sweep: when all fail, the budget is worth more than to hear of each why. */
const mostReasons = 20;

/**
 * Asks for the state of all files in processing with as few requests as possible: pages of the list from the end where the
 * newest videos are, then single videos by id. Which end that is, is learnt from `created_at`.
 *
 * @param round number of this sweep: the videos that no page shows take turns at being asked for by id
 */
export async function sweep(
  processing: readonly Facts[],
  library: VideoLibrary,
  signal: AbortSignal,
  round = 0,
): Promise<SweepResult> {
  const wanted = new Set(processing.flatMap((facts) => facts.videoId ?? []));
  const result = { seen: new Map<string, RemoteVideo>(), gone: [] as string[], requests: 0 };
  if (wanted.size > 1) {
    const failure = await sweepPages(wanted, library, signal, result);
    if (failure !== null) return { ...result, failure };
  }
  const failure = await askReasons(library, signal, result);
  if (failure !== null) return { ...result, failure };
  for (const id of inTurn([...wanted], round)) {
    const answer = await library.get(id, signal);
    result.requests += 1;
    if (answer.ok) result.seen.set(id, answer.value);
    else if (answer.failure.kind === 'gone') result.gone.push(id);
    else return { ...result, failure: answer.failure };
  }
  return { ...result, failure: null };
}

/** A list need not say why a video failed. */
async function askReasons(
  library: VideoLibrary,
  signal: AbortSignal,
  result: { seen: Map<string, RemoteVideo>; requests: number },
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

function inTurn(ids: readonly string[], round: number): readonly string[] {
  const start = ids.length <= mostById ? 0 : (round * mostById) % ids.length;
  return [...ids.slice(start), ...ids.slice(0, start)].slice(0, mostById);
}

async function sweepPages(
  wanted: Set<string>,
  library: VideoLibrary,
  signal: AbortSignal,
  result: { seen: Map<string, RemoteVideo>; requests: number },
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

/** Shares of the hourly budget that the sweeps may use once the first quick ones are spent: by themselves, and when somebody rings. */
const sustainedShares = { byItself: 0.08, rung: 0.25 } as const;

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
 * @returns milliseconds; 0 also when the oldest file is from the future, because the clock was set back
 */
export function tooEarlyMs(processing: readonly Facts[], usualMs: number | null, now: number): number {
  const oldest = Math.min(...processing.map((facts) => facts.processingSince ?? 0));
  const earlyMs = oldest + Math.min(mostEarlyMs, (usualMs ?? 0) / 2) - now;
  return earlyMs > mostEarlyMs ? 0 : Math.max(0, earlyMs);
}
