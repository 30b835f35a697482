import { createAges } from './ages.ts';
import { createDoorbell } from './doorbell.ts';
import type { Facts } from '../file/facts.ts';
import { isCounted } from '../file/backoff.ts';
import { deletedOnService } from '../file/reasons.ts';
import type { Failure } from '../file/failure.ts';
import type { Clock, FileStore, Receipts, VideoLibrary } from '../file/ports.ts';
import type { Runner } from '../steps/runner.ts';
import { nextSweepMs, sweep, tooEarlyMs } from './sweep-requests.ts';
import type { SweepResult } from './sweep-requests.ts';
import type { Logger } from '../../log/logger.ts';

export interface SweepWorld {
  readonly store: Pick<FileStore, 'due'>;
  readonly library: Pick<VideoLibrary, 'list' | 'get'>;
  readonly receipts: Receipts;
  readonly runner: Pick<Runner, 'apply'>;
  readonly clock: Clock;
  readonly logger: Logger;
  settings(): {
    readonly poll: { readonly intervalMs: number; readonly giveUpAfterMs: number };
    readonly requestsPerHour: number;
  };
  /** The service could not be asked. @returns the failure as it counts: `offline` when the service answers nothing else either */
  failed(failure: Failure, signal: AbortSignal): Promise<Failure>;
}

/** Files one sweep asks for at most; the others are asked for once these have ended. */
const mostSwept = 10_000;

/** Between two sweeps that somebody rang for. */
const rungMs = 1_000;

export interface Sweep {
  /** Asks if it is time to. */
  run(signal: AbortSignal): Promise<void>;
  /** Somebody says that videos have changed: it is time to ask, though at most once a second. */
  ring(): void;
  /** Why it takes long to hear of a video, or null. */
  trouble(): string | null;
  /** How long processing usually takes, in milliseconds; null until it is known. */
  usualMs(): number | null;
}

/**
 * The one sweep of all files in processing: asks, hands the answers on, and decides when to ask again.
 *
 * @param world.settings as they now are: a reload may change them
 */
export function createSweep(world: SweepWorld): Sweep {
  const { store, library, clock, logger, receipts, runner, settings, failed } = world;
  const bell = createDoorbell(clock);
  // After a restart a file gets at least half of its time again: the clock may have been set meanwhile.
  const ages = createAges(clock, () => settings().poll.giveUpAfterMs / 2);
  const used: number[] = [];
  const turns: string[] = [];
  let notBefore = 0;
  let listFailure: Failure | null = null;
  let usualMs: number | null = null;

  const hand = async (facts: Facts, result: SweepResult, { isAway, areGone }: Verdict): Promise<void> => {
    const id = facts.videoId ?? '';
    const video = result.seen.get(id);
    const waitedMs = ages.of(facts);
    const isAsked = video !== undefined || (result.unanswered.includes(id) && !isAway);
    if (areGone && result.gone.includes(id)) await runner.apply(facts.id, { type: 'REMOTE_GONE' });
    else if (video !== undefined && (video.status !== facts.remoteStatus || isFinal(video.status))) {
      const { status, message } = video;
      if (status === 'ready') {
        if (ages.isMeasured(facts)) usualMs = usualMs === null ? waitedMs : 0.8 * usualMs + 0.2 * waitedMs;
        await receipts.append('ready', facts);
      }
      await runner.apply(facts.id, { type: 'REMOTE_STATUS', status, ...(message !== undefined && { message }) });
    } else if (isAsked && waitedMs > settings().poll.giveUpAfterMs) await runner.apply(facts.id, { type: 'GIVE_UP' });
  };

  const pace = ({ requests, listFailure: isWithoutList }: SweepResult): void => {
    const now = clock.elapsed();
    for (let n = 0; n < requests; n += 1) used.push(now);
    while (used.length > 0 && (used[0] ?? 0) < now - 3_600_000) used.shift();
    const { poll, requestsPerHour } = settings();
    const usedInHour = used.length;
    const spent = { pages: requests, usedInHour, requestsPerHour };
    const cause = isWithoutList === null ? 'byItself' : 'byId';
    notBefore = now + nextSweepMs({ ...spent, intervalMs: poll.intervalMs, cause });
    bell.rest(nextSweepMs({ ...spent, intervalMs: rungMs, cause: 'rung' }));
  };

  const isTime = (processing: readonly Facts[]): boolean => {
    const inProcessingMs = processing.map(ages.of);
    if (bell.isRinging() && bell.isAbout(Math.min(...inProcessingMs))) return true;
    if (clock.elapsed() < notBefore) return false;
    const earlyMs = tooEarlyMs(Math.max(...inProcessingMs), usualMs);
    if (earlyMs > 0) notBefore = clock.elapsed() + Math.min(earlyMs, settings().poll.intervalMs);
    return earlyMs <= 0;
  };

  const sweepIfTime = async (signal: AbortSignal): Promise<void> => {
    if (clock.elapsed() < notBefore && !bell.isRinging()) return;
    const processing = await store.due('processing', clock.now(), mostSwept);
    if (processing.length === 0 || !isTime(processing)) return;
    bell.answer();
    ages.keepOnly(processing);
    const result = await sweep(processing, library, signal, turns);
    if (signal.aborted) return;
    // Before the answers are handed on: should that break, the next sweep still waits its time.
    pace(result);
    noteList(result);
    const verdict = await judge(result, signal);
    for (const facts of processing) await hand(facts, result, verdict);
  };

  /** Said when it begins and when it ends, not with every sweep. */
  const noteList = (result: SweepResult): void => {
    if (result.failure !== null || (result.listFailure === null) === (listFailure === null)) return;
    listFailure = result.listFailure;
    if (listFailure === null) logger.info('The service lists videos again');
    else
      logger.warn('The service does not list videos: each is asked for by its id, which takes longer', {
        failure: listFailure,
      });
  };

  /** A 404 counts only when the service answers something else: while it is replaced, a proxy may answer 404 to everything. */
  const judge = async ({ failure, gone }: SweepResult, signal: AbortSignal): Promise<Verdict> => {
    if (failure !== null) {
      logger.warn('The service could not be asked for the state of the videos', { failure });
      return { isAway: !isCounted(await failed(failure, signal)), areGone: false };
    }
    if (gone.length === 0) return { isAway: false, areGone: false };
    const areGone = (await failed(deletedOnService, signal)).kind === 'gone';
    return { isAway: !areGone, areGone };
  };

  const trouble = (): string | null =>
    listFailure === null
      ? null
      : `the service does not list videos (${listFailure.message}): dropcast asks for each one by its id, which takes longer`;

  return { run: sweepIfTime, ring: bell.ring, trouble, usualMs: () => usualMs };
}

/** What the failures of a sweep say about the service, and so about the videos. */
interface Verdict {
  readonly isAway: boolean;
  readonly areGone: boolean;
}

/** Words that end the wait, also when an upload that was found finished after a crash had already heard them. */
function isFinal(status: string): boolean {
  return status === 'ready' || status === 'failed';
}
