import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { RemoteVideo, VideoLibrary } from '../file/ports.ts';
import { ListWalk } from './list-walk.ts';
import type { Walked } from './list-walk.ts';

/** What a sweep over the files in processing found, and its cost. */
export interface SweepResult {
  readonly seen: ReadonlyMap<string, RemoteVideo>;
  /** Videos for which the service answered 404 when polled by id. Absence from a list proves nothing. */
  readonly gone: readonly string[];
  /** Videos that gave no usable answer when polled by id. */
  readonly unanswered: readonly string[];
  readonly requests: number;
  /** Number of requests that asked why a video failed, which are not repeated. */
  readonly reasons: number;
  /** Why the service does not list videos; it may still answer for single ones. */
  readonly listFailure: Failure | null;
  /** Why the sweep ended early, if requests to the service failed. */
  readonly failure: Failure | null;
}

export interface SweepAllowance {
  readonly pages: number;
  /** Number of single-video polls of each kind: for videos that were on no page, and for the reason why one failed. */
  readonly singles: number;
  /**
   * Restricts the list to the page with the oldest files in processing, assuming they are the newest videos of the
   * list: the oldest are most likely to be ready.
   */
  readonly isForOldest?: boolean;
}

interface Findings {
  readonly seen: Map<string, RemoteVideo>;
  readonly gone: string[];
  readonly unanswered: string[];
  requests: number;
  reasons: number;
}

/**
 * How many videos that were on no page a sweep polls by id: in addition to the list (`beside`), or instead of a list
 * that fails.
 */
const mostById = { beside: 5, instead: 20 } as const;

const pageSize = 100;

const unlimited: SweepAllowance = { pages: Infinity, singles: Infinity };

/**
 * Queries the state of all files in processing with as few requests as possible: pages of the list from its newest end,
 * then single videos by id. If the list fails, only the polls by id remain.
 */
export function createSweepRequests(library: Pick<VideoLibrary, 'list' | 'get'>) {
  const walk = new ListWalk();
  /** Ids in the order in which they were last polled, so that each gets its turn. */
  const turns: string[] = [];
  /** Whether the last page read for the oldest files contained none of them. */
  let hasMissed = false;
  return {
    /** @param processing files in processing, oldest first */
    ask: async (
      processing: readonly Facts[],
      signal: AbortSignal,
      { pages, singles, isForOldest }: SweepAllowance = unlimited,
    ): Promise<SweepResult> => {
      const wanted = new Set(processing.flatMap((facts) => facts.videoId ?? []));
      const result: Findings = { seen: new Map(), gone: [], unanswered: [], requests: 0, reasons: 0 };
      const behind = isForOldest === true && !hasMissed ? Math.floor((wanted.size - 1) / pageSize) : 0;
      const look = (): Promise<Walked> =>
        behind > 0 ? walk.glance(wanted, library, signal, behind) : walk.read(wanted, library, signal, pages);
      const walked = wanted.size > 1 ? await look() : null;
      hasMissed = behind > 0 && walked?.found.length === 0;
      for (const video of walked?.found ?? []) result.seen.set(video.id, video);
      result.requests += walked?.requests ?? 0;
      const listFailure = walked?.failure ?? null;
      if (listFailure !== null && isOfAll(listFailure)) return { ...result, listFailure: null, failure: listFailure };
      const unseen = walked === null ? [...wanted] : walked.unseen;
      const most = Math.min(singles, listFailure === null ? mostById.beside : mostById.instead);
      const ids = unseen === null ? [] : inTurn(unseen, turns, most);
      const failure =
        (await askReasons(singles, library, signal, result)) ??
        (await askById(ids, library, signal, { result, isListed: listFailure === null }));
      return { ...result, listFailure, failure };
    },
  };
}

function isOfAll({ kind }: Failure): boolean {
  return kind === 'offline' || kind === 'suspended' || kind === 'throttled';
}

/** This many failures, with no other answer, mean that the service is at fault and not single videos. */
const mostUnanswered = 2;

/** Polls videos by id. @returns why requests to the service fail, or null */
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

/** Asks why videos failed, because a list may not contain the reason. */
async function askReasons(
  most: number,
  library: Pick<VideoLibrary, 'get'>,
  signal: AbortSignal,
  result: Findings,
): Promise<Failure | null> {
  const failed = [...result.seen.values()].filter(
    ({ status, message }) => status === 'failed' && message === undefined,
  );
  for (const { id } of failed.slice(0, most)) {
    const answer = await library.get(id, signal);
    result.requests += 1;
    result.reasons += 1;
    if (answer.ok) result.seen.set(id, answer.value);
    else if (answer.failure.kind !== 'gone') return answer.failure;
  }
  return null;
}

/** Returns ids that were never polled, oldest first, followed by the least recently polled ones. */
function inTurn(ids: readonly string[], turns: string[], most: number): readonly string[] {
  const known = new Set(turns);
  const wanted = new Set(ids);
  const next = [...ids.filter((id) => !known.has(id)), ...turns.filter((id) => wanted.has(id))].slice(0, most);
  const asked = new Set(next);
  turns.splice(0, turns.length, ...turns.filter((id) => wanted.has(id) && !asked.has(id)), ...next);
  return next;
}
