import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { RemoteVideo, VideoLibrary } from '../file/ports.ts';
import { ListWalk } from './list-walk.ts';
import type { Walked } from './list-walk.ts';

/** What a sweep found out about the files in processing, and what it cost. */
export interface SweepResult {
  readonly seen: ReadonlyMap<string, RemoteVideo>;
  /** Videos the service answered 404 for when asked by id; absence from a list proves nothing. */
  readonly gone: readonly string[];
  /** Videos that were asked for by id, but the service could not tell. */
  readonly unanswered: readonly string[];
  readonly requests: number;
  /** Of these, questions why a video failed: nobody asks twice. */
  readonly reasons: number;
  /** Why the service does not list videos, while it may still answer for single ones. */
  readonly listFailure: Failure | null;
  /** Set when the service could not be asked and the sweep ended early. */
  readonly failure: Failure | null;
}

/** What one sweep may cost. */
export interface SweepAllowance {
  /** Pages of the list. */
  readonly pages: number;
  /** Questions for single videos, of each kind: those that no page showed, and why one failed. */
  readonly singles: number;
  /** Only the page that shows the oldest of them, if they are the newest videos of the list: the likeliest to be ready. */
  readonly isForOldest?: boolean;
}

interface Findings {
  readonly seen: Map<string, RemoteVideo>;
  readonly gone: string[];
  readonly unanswered: string[];
  requests: number;
  reasons: number;
}

/** How many videos that no page showed one sweep asks for by id: beside a list, and instead of one that fails. */
const mostById = { beside: 5, instead: 20 } as const;

/** Videos on a page, as dropcast asks for it. */
const pageSize = 100;

const unlimited: SweepAllowance = { pages: Infinity, singles: Infinity };

/**
 * Asks for the state of all files in processing with as few requests as possible.
 * Pages of the list from the end where the newest videos are, then single videos by id. A list that fails is done without.
 */
export function createSweepRequests(library: Pick<VideoLibrary, 'list' | 'get'>) {
  const walk = new ListWalk();
  /** Ids in the order in which they were last asked for, so that all get their turn. */
  const turns: string[] = [];
  /** The last page for the oldest showed none of them. */
  let hasMissed = false;
  return {
    /** @param processing oldest first */
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

/** Nothing else that is asked now can get an answer. */
function isOfAll({ kind }: Failure): boolean {
  return kind === 'offline' || kind === 'suspended' || kind === 'throttled';
}

/** This many failures, where nothing else was answered, are the service's and not those of single videos. */
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

/** Those that were never asked for, oldest first, then those whose turn is longest ago. */
function inTurn(ids: readonly string[], turns: string[], most: number): readonly string[] {
  const known = new Set(turns);
  const wanted = new Set(ids);
  const next = [...ids.filter((id) => !known.has(id)), ...turns.filter((id) => wanted.has(id))].slice(0, most);
  const asked = new Set(next);
  turns.splice(0, turns.length, ...turns.filter((id) => wanted.has(id) && !asked.has(id)), ...next);
  return next;
}
