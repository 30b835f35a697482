import type { LatePoll, RequestRoom } from '../estimate.ts';
import { createAges } from '../ages.ts';
import { stateOf } from '../file/facts.ts';
import type { Facts } from '../file/facts.ts';
import { urgencyOf } from '../file/urgency.ts';
import { isCounted } from '../file/backoff.ts';
import { deletedOnService, isBeingAdopted } from '../file/reasons.ts';
import type { Failure } from '../file/failure.ts';
import type { Clock, Receipts, VideoLibrary } from '../file/ports.ts';
import type { RowStore } from '../file/row-groups.ts';
import type { Wanted, PollPace } from '../request-shares.ts';
import type { Runner } from '../steps/runner.ts';
import { sideBySide } from './jobs.ts';
import { keptRequests, pollPace, tooEarlyMs } from '../request-shares.ts';
import { createSweepRequests } from './sweep-requests.ts';
import type { SweepAllowance, SweepResult } from './sweep-requests.ts';
import type { Logger } from '../../log/logger.ts';

export interface SweepWorld {
  readonly store: RowStore<'in state' | 'due'>;
  readonly library: Pick<VideoLibrary, 'list' | 'get'>;
  readonly receipts: Receipts;
  readonly runner: Pick<Runner, 'apply'>;
  readonly clock: Clock;
  /** Schedules work for this time on the monotonic clock. Each call replaces the one before with the same name. */
  ringAt(name: string, at: number): void;
  readonly logger: Logger;
  settings(): { readonly poll: { readonly intervalMs: number; readonly giveUpAfterMs: number } };
  room(): RequestRoom;
  /** The other needs for requests this hour. */
  wanted(): Promise<Wanted>;
  /**
   * Judges a failed request to the service. @returns the failure as classified: `offline` if other requests fail too
   */
  failed(failure: Failure, signal: AbortSignal): Promise<Failure>;
}

/** Maximum number of files in one sweep; the others follow once these have finished. */
const mostSwept = 10_000;

/** Minimum interval between two sweeps caused by webhooks. */
const rungMs = 1_000;

/** Interval at which the pace is recomputed while a sweep waits, because its inputs keep changing. */
const lookEveryMs = 1_000;

/** Number of probably ready videos that make a request worth its cost even on a short budget. */
const worthAsking = 50;

/** Files with the earliest deadlines, among which one may be worth a poll of its own. */
const mostDue = 200;

/** Share of the hour's requests for polls of files with a deadline: their create requests need the rest. */
const dueShare = 0.1;

const hourMs = 3_600_000;

/** Assumed processing time until one has been measured. */
const unknownMs = 5 * 60_000;

/** Why dropcast learns later than `poll.interval` that a video is ready. */
export type PollTrouble =
  | { readonly kind: 'no list'; readonly failure: Failure }
  /** The budget is short. `nextAt`: time of the next poll, epoch milliseconds. */
  | { readonly kind: 'budget'; readonly nextAt: number; readonly left: number; readonly limit: number };

/**
 * Creates the sweep, which polls all files in processing, passes the answers on, and decides when to poll again.
 *
 * @param world.settings the current settings, which a reload may change
 */
export function createSweep(world: SweepWorld) {
  const { store, library, clock, logger, receipts, runner, settings, failed } = world;
  const requests = createSweepRequests(library);
  const bell = createDoorbell(clock);
  // After a restart a file gets at least half of its time again, because the clock may have been changed.
  const ages = createAges(clock, () => settings().poll.giveUpAfterMs / 2);
  let lookAt = -Infinity;
  let nextAt: number | null = null;
  let lastAt = -Infinity;
  let spent = 1;
  /** Factor that grows with each poll that found few ready videos. */
  let patience = 1;
  /** When a file with a deadline may get a poll of its own, on the monotonic clock, and how long after that the next. */
  let duePollAt = -Infinity;
  let duePatience = 1;
  /** Null unless the budget delays the poll. `until`: on the monotonic clock. */
  let lateness: { readonly until: number; readonly everyMs: number } | null = null;
  let listFailure: Failure | null = null;
  let usualMs: number | null = null;
  let seen: readonly { readonly bytes: number; readonly ms: number }[] = [];
  let unseenMs = 0;

  const hand = async (facts: Facts, result: SweepResult, { isAway, areGone }: Verdict): Promise<void> => {
    const id = facts.videoId ?? '';
    const video = result.seen.get(id);
    const waitedMs = ages.of(facts);
    const isAsked = video !== undefined || (result.unanswered.includes(id) && !isAway);
    if (areGone && result.gone.includes(id)) await runner.apply(facts.id, { type: 'REMOTE_GONE' });
    else if (video !== undefined && (video.status !== facts.remoteStatus || isFinal(video.status))) {
      const { status, message, embedUrl } = video;
      if (status === 'ready') {
        if (ages.isMeasured(facts) && !isBeingAdopted(facts)) {
          usualMs = usualMs === null ? waitedMs : 0.8 * usualMs + 0.2 * waitedMs;
          // It may have been ready since the poll before.
          seen = [{ bytes: facts.version.size, ms: Math.max(0, waitedMs - unseenMs) }, ...seen].slice(0, mostSeen);
        }
        await receipts.append('ready', facts);
      }
      await runner.apply(facts.id, {
        type: 'REMOTE_STATUS',
        status,
        ...(message !== undefined && { message }),
        ...(embedUrl !== undefined && { embedUrl }),
      });
    } else if (isAsked && waitedMs > settings().poll.giveUpAfterMs) await runner.apply(facts.id, { type: 'GIVE_UP' });
  };

  const paceOf = async (cause: 'byItself' | 'rung'): Promise<PollPace> => {
    const intervalMs = cause === 'rung' ? rungMs : settings().poll.intervalMs;
    return pollPace({ room: world.room(), wanted: await world.wanted(), intervalMs, spent, cause });
  };

  /** Returns when the next poll is due, on the monotonic clock. On a short budget, even the first poll waits. */
  const dueAt = (oldest: Facts, { everyMs, isFree }: PollPace): number => {
    if (isFree) return lastAt + everyMs;
    const oldestMs = ages.of(oldest);
    const begunAt = clock.elapsed() - oldestMs;
    return Math.max(lastAt + everyMs, begunAt + everyMs, clock.elapsed() + tooEarlyMs(oldestMs, usualMs));
  };

  const isRung = (processing: readonly Facts[]): boolean =>
    bell.isRinging() && bell.isAbout(Math.min(...processing.map(ages.of)));

  const processing = (limit: number) => store.rows({ group: 'in state', state: 'processing', limit });

  const areManyLikelyReady = async (): Promise<boolean> => {
    const oldest = await processing(worthAsking);
    const youngest = oldest.at(-1);
    return (
      oldest.length >= worthAsking &&
      youngest !== undefined &&
      ages.of(youngest) >= 1.2 * (usualMs ?? unknownMs) * patience
    );
  };

  /** Returns the shortest processing time seen for a video of about this size, but not larger; null: none yet. */
  const fastestMs = (sizeBytes: number): number | null => {
    const alike = seen.filter(({ bytes }) => bytes <= sizeBytes && bytes >= sizeBytes / 4);
    return alike.length === 0 ? null : Math.min(...alike.map(({ ms }) => ms));
  };

  /** Whether a poll of its own is worthwhile for a file with a deadline, which cannot wait for the next poll. */
  const isDueOneReady = async (): Promise<boolean> => {
    const { left, limit } = world.room();
    if (clock.elapsed() < duePollAt || left <= keptRequests(limit)) return false;
    return (await store.rows({ group: 'due', limit: mostDue })).some(isDueAndReady);
  };

  const isDueAndReady = (facts: Facts): boolean => {
    const expectedMs = fastestMs(facts.version.size) ?? usualMs ?? unknownMs;
    return urgencyOf(facts) !== null && stateOf(facts) === 'processing' && ages.of(facts) >= expectedMs;
  };

  /** Polls only the files with a deadline. The schedule of the other polls stays as it is. */
  const sweepDue = async (files: readonly Facts[], signal: AbortSignal): Promise<void> => {
    const result = await requests.ask(files, signal, { pages: 1, singles: 1 });
    if (signal.aborted) return;
    duePatience = result.seen.values().some(({ status }) => isFinal(status)) ? 1 : Math.min(64, 2 * duePatience);
    const shareMs = (result.requests * hourMs) / (dueShare * world.room().limit);
    duePollAt = clock.elapsed() + Math.max(duePatience * settings().poll.intervalMs, shareMs);
    const verdict = await judge(result, signal);
    await sideBySide(files, (facts) => hand(facts, result, verdict));
  };

  /** Returns the limits of a sweep now; null if none is due. */
  const allowance = async (): Promise<(PollPace & SweepAllowance & { readonly isForDue?: boolean }) | null> => {
    const [oldest] = await processing(1);
    if (oldest === undefined) {
      lateness = null;
      nextAt = null;
      return null;
    }
    const pace = await paceOf('byItself');
    const at = dueAt(oldest, pace);
    nextAt = at;
    const now = clock.elapsed();
    if (at > now && lastAt + settings().poll.intervalMs <= now && (await areManyLikelyReady()))
      return { ...pace, isForOldest: true };
    if (at > now && !pace.isFree && (await isDueOneReady())) return { ...pace, isForDue: true };
    lookAt = Math.min(at, now + lookEveryMs);
    if (at > now) world.ringAt('sweep', lookAt);
    const isLate = !pace.isFree && Math.max(pace.everyMs, at - now) > 1.5 * settings().poll.intervalMs;
    lateness = isLate ? { until: at, everyMs: pace.everyMs } : null;
    return at <= now ? { ...pace, isForOldest: !pace.isFree } : null;
  };

  const sweepIfTime = async (signal: AbortSignal): Promise<void> => {
    if (clock.elapsed() < lookAt && !bell.isRinging()) return;
    const due = await allowance();
    if (due === null && !bell.isRinging()) return;
    const files = await processing(mostSwept);
    if (files.length === 0 || (due === null && !isRung(files))) return;
    if (due?.isForDue === true) return sweepDue(files.filter(isDueAndReady), signal);
    bell.answer();
    ages.keepOnly(files);
    const result = await requests.ask(files, signal, due ?? (await paceOf('rung')));
    if (signal.aborted) return;
    unseenMs = clock.elapsed() - lastAt;
    // Set before the answers are passed on, so that the next sweep waits even if that fails.
    lastAt = clock.elapsed();
    spent = result.requests - result.reasons;
    if (due?.isForOldest === true) patience = isWorth(result) ? 1 : Math.min(16, 2 * patience);
    await allowance();
    bell.rest((await paceOf('rung')).everyMs);
    noteList(result);
    const verdict = await judge(result, signal);
    await sideBySide(files, (facts) => hand(facts, result, verdict));
  };

  /** Logs a failing list when the failure starts and when it ends, not on every sweep. */
  const noteList = (result: SweepResult): void => {
    if (result.failure !== null || (result.listFailure === null) === (listFailure === null)) return;
    listFailure = result.listFailure;
    if (listFailure === null) logger.info('The service lists videos again');
    else
      logger.warn('Listing videos failed; polling each video by its id, which is slower', {
        failure: listFailure,
      });
  };

  /**
   * Judges the failures of a sweep. A 404 counts only if the service answers another request: while the service is
   * being replaced, a proxy may answer 404 to everything.
   */
  const judge = async ({ failure, gone }: SweepResult, signal: AbortSignal): Promise<Verdict> => {
    if (failure !== null) {
      logger.warn('Cannot get the state of the videos from the service', { failure });
      return { isAway: !isCounted(await failed(failure, signal)), areGone: false };
    }
    if (gone.length === 0) return { isAway: false, areGone: false };
    const areGone = (await failed(deletedOnService, signal)).kind === 'gone';
    return { isAway: !areGone, areGone };
  };

  const trouble = (): PollTrouble | null => {
    if (listFailure !== null) return { kind: 'no list', failure: listFailure };
    if (lateness === null) return null;
    const { left, limit } = world.room();
    return { kind: 'budget', nextAt: lateness.until - clock.elapsed() + clock.now(), left, limit };
  };

  return {
    run: sweepIfTime,
    /** Records that a webhook reported changed videos: polls soon, at most once a second. */
    ring: (): void => {
      bell.ring();
      world.ringAt('doorbell', bell.restsUntil());
    },
    trouble,
    /** Returns when the next poll is due and the interval after it, if the budget delays polls; null if it does not. */
    late: (): LatePoll | null =>
      lateness && { inMs: Math.max(0, lateness.until - clock.elapsed()), everyMs: lateness.everyMs },
    /**
     * Returns the time of the next poll on the monotonic clock; null if, as of the last check, there is nothing to
     * poll.
     */
    nextAt: (): number | null => nextAt,
    /** Returns how long processing usually takes, in milliseconds; null until it is known. */
    usualMs: (): number | null => usualMs,
    fastestMs,
  };
}

const mostSeen = 100;

/** What the failures of a sweep prove about the service and its videos. */
interface Verdict {
  readonly isAway: boolean;
  readonly areGone: boolean;
}

/** Whether a status ends the wait, even for an upload that was found to be complete after a crash. */
function isFinal(status: string): boolean {
  return status === 'ready' || status === 'failed';
}

function isWorth({ seen }: SweepResult): boolean {
  return [...seen.values()].filter(({ status }) => isFinal(status)).length >= worthAsking / 2;
}

/**
 * How long a webhook also applies to files that start processing after it, because it may arrive before the answer to
 * the upload.
 */
const echoMs = 10_000;

/** Remembers that a webhook announced a change, so that the sweep does not wait for its interval. */
function createDoorbell(clock: Clock) {
  let isUnanswered = false;
  let rungAt = -Infinity;
  let answeredAt = -Infinity;
  let quietUntil = 0;
  return {
    ring: (): void => {
      isUnanswered = true;
      rungAt = clock.elapsed();
    },
    /** Whether a webhook justifies a sweep now, if it can concern any file. */
    isRinging: (): boolean => clock.elapsed() >= quietUntil && (isUnanswered || clock.elapsed() < rungAt + echoMs),
    /** Whether the webhook can concern a file. @param youngestMs how long the youngest file has been in processing */
    isAbout: (youngestMs: number): boolean => isUnanswered || clock.elapsed() - youngestMs >= answeredAt,
    /** Marks all webhooks so far as answered by a sweep that is starting. */
    answer: (): void => {
      isUnanswered = false;
      answeredAt = clock.elapsed();
    },
    /** Returns until when webhooks are ignored, on the monotonic clock. */
    restsUntil: (): number => quietUntil,
    /** Allows no further webhook-triggered sweep for this long. */
    rest: (ms: number): void => {
      quietUntil = clock.elapsed() + ms;
    },
  };
}
