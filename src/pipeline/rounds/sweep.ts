import { createDoorbell } from './doorbell.ts';
import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { Clock, FileStore, Receipts, VideoLibrary } from '../file/ports.ts';
import type { Runner } from '../steps/runner.ts';
import { nextSweepMs, sweep, tooEarlyMs } from './sweep-requests.ts';
import type { SweepResult } from './sweep-requests.ts';
import type { Logger } from '../../log/logger.ts';

export interface SweepWorld {
  readonly store: Pick<FileStore, 'due'>;
  readonly library: VideoLibrary;
  readonly receipts: Receipts;
  readonly runner: Pick<Runner, 'apply'>;
  readonly clock: Clock;
  readonly logger: Logger;
  settings(): {
    readonly poll: { readonly intervalMs: number; readonly giveUpAfterMs: number };
    readonly requestsPerHour: number;
  };
  /** The service could not be asked: `id` is one of the files it was asked about. */
  failed(id: string, failure: Failure): void;
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
}

/**
 * The one sweep of all files in processing: asks, hands the answers on, and decides when to ask again.
 *
 * @param world.settings as they now are: a reload may change them
 */
export function createSweep(world: SweepWorld): Sweep {
  const { store, library, clock, logger, receipts, runner, settings, failed } = world;
  const bell = createDoorbell(clock);
  const used: number[] = [];
  let notBefore = 0;
  let round = 0;
  let usualMs: number | null = null;

  const hand = async (facts: Facts, result: SweepResult): Promise<void> => {
    const id = facts.videoId ?? '';
    const video = result.seen.get(id);
    const waitedMs = clock.now() - (facts.processingSince ?? clock.now());
    if (result.gone.includes(id)) await runner.apply(facts.id, { type: 'REMOTE_GONE' });
    else if (video !== undefined && (video.status !== facts.remoteStatus || isFinal(video.status))) {
      const { status, message } = video;
      if (status === 'ready') {
        usualMs = usualMs === null ? waitedMs : 0.8 * usualMs + 0.2 * waitedMs;
        await receipts.append('ready', facts);
      }
      await runner.apply(facts.id, { type: 'REMOTE_STATUS', status, ...(message !== undefined && { message }) });
    } else if (video !== undefined && waitedMs > settings().poll.giveUpAfterMs)
      await runner.apply(facts.id, { type: 'GIVE_UP' });
  };

  const pace = (requests: number): void => {
    const now = clock.elapsed();
    for (let n = 0; n < requests; n += 1) used.push(now);
    while (used.length > 0 && (used[0] ?? 0) < now - 3_600_000) used.shift();
    const { poll, requestsPerHour } = settings();
    const usedInHour = used.length;
    const spent = { pages: requests, usedInHour, requestsPerHour };
    notBefore = now + nextSweepMs({ ...spent, intervalMs: poll.intervalMs });
    bell.rest(nextSweepMs({ ...spent, intervalMs: rungMs, cause: 'rung' }));
  };

  const isTime = (processing: readonly Facts[]): boolean => {
    if (bell.isRinging() && bell.isAbout(processing)) return true;
    if (clock.elapsed() < notBefore) return false;
    const earlyMs = tooEarlyMs(processing, usualMs, clock.now());
    if (earlyMs > 0) notBefore = clock.elapsed() + Math.min(earlyMs, settings().poll.intervalMs);
    return earlyMs <= 0;
  };

  const sweepIfTime = async (signal: AbortSignal): Promise<void> => {
    if (clock.elapsed() < notBefore && !bell.isRinging()) return;
    const processing = await store.due('processing', clock.now(), mostSwept);
    const [first] = processing;
    if (first === undefined || !isTime(processing)) return;
    bell.answer();
    const result = await sweep(processing, library, signal, round);
    if (signal.aborted) return;
    round += 1;
    // Before the answers are handed on: should that break, the next sweep still waits its time.
    pace(result.requests);
    for (const facts of processing) await hand(facts, result);
    if (result.failure !== null) {
      logger.warn('The service could not be asked for the state of the videos', { failure: result.failure });
      failed(first.id, result.failure);
    }
  };

  return { run: sweepIfTime, ring: bell.ring };
}

/** Words that end the wait, also when an upload that was found finished after a crash had already heard them. */
function isFinal(status: string): boolean {
  return status === 'ready' || status === 'failed';
}
