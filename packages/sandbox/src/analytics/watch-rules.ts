import type { WatchProgress } from '../store/plays.ts';
import type { VideoMedia } from '../store/videos.ts';

/** assumed: the specification gives the rate of completion (section 2.5), but not what completes a play. */
const COMPLETE_FRACTION = 0.9;

/** A player's report on its play so far. */
export interface PlayerReport {
  /** Seconds of the video that really ran, seeks left out. */
  readonly watchedS: number;
  /** The player reached the end. */
  readonly isEnded: boolean;
}

/** @param durationS null if unknown; then the player's report of the end counts. */
export function embedProgress(report: PlayerReport, elapsedMs: number, durationS: number | null): WatchProgress {
  const watchedS = creditedS(report.watchedS, elapsedMs, durationS);
  if (durationS === null) return { watchedS, isComplete: report.isEnded && watchedS > 0 };
  return { watchedS, isComplete: watchedS >= durationS * COMPLETE_FRACTION };
}

/**
 * Reports come from a browser, so nothing in them is believed beyond what was possible. assumed: at double speed at
 * most, counted from the start of the play, and ten times through the video at most (a player that loops).
 */
function creditedS(claimedS: number, elapsedMs: number, durationS: number | null): number {
  const possibleS = (elapsedMs / 1000) * MAX_RATE + SLACK_S;
  return Math.min(claimedS, possibleS, durationS === null ? Infinity : durationS * MAX_RUNS);
}

const MAX_RATE = 2;
/** The player starts shortly before the service opens its play. */
const SLACK_S = 1;
const MAX_RUNS = 10;

/**
 * The play that reads of the file make. By the IAB's podcast measurement guidelines a download counts when it holds the
 * first minute, or the whole file if that is shorter. Seconds are estimated at the average bit rate.
 *
 * @param bytes distinct ones of the file
 */
export function readProgress(bytes: number, media: VideoMedia): WatchProgress & { readonly isView: boolean } {
  const fraction = Math.min(1, bytes / media.sizeBytes);
  const durationS = media.durationS ?? 0;
  const wantedFraction = durationS > MINUTE_S ? MINUTE_S / durationS : 1;
  return {
    isView: fraction >= wantedFraction,
    watchedS: fraction * durationS,
    isComplete: fraction >= COMPLETE_FRACTION,
  };
}

const MINUTE_S = 60;
