import type { WatchProgress } from '../store/plays.ts';
import type { VideoMedia } from '../store/videos.ts';

/** assumed: the specification has a completion rate (section 2.5) but does not define when a play is complete. */
const COMPLETE_FRACTION = 0.9;

/** A player's progress report. */
export interface PlayerReport {
  /** Seconds of video actually played, excluding seeks. */
  readonly watchedS: number;
  /** Whether the player reached the end. */
  readonly isEnded: boolean;
}

/** @param durationS null if unknown; the play is then complete if the player reports the end */
export function embedProgress(report: PlayerReport, elapsedMs: number, durationS: number | null): WatchProgress {
  const watchedS = creditedS(report.watchedS, elapsedMs, durationS);
  if (durationS === null) return { watchedS, isComplete: report.isEnded && watchedS > 0 };
  return { watchedS, isComplete: watchedS >= durationS * COMPLETE_FRACTION };
}

/**
 * Caps reported seconds at what was possible, since reports come from a browser and cannot be trusted. assumed: at most
 * double speed since the start of the play, and at most ten runs through the video (a player that loops).
 */
function creditedS(claimedS: number, elapsedMs: number, durationS: number | null): number {
  const possibleS = (elapsedMs / 1000) * MAX_RATE + SLACK_S;
  return Math.min(claimedS, possibleS, durationS === null ? Infinity : durationS * MAX_RUNS);
}

const MAX_RATE = 2;
/** Allowance for players that start shortly before the service opens their play. */
const SLACK_S = 1;
const MAX_RUNS = 10;

/**
 * Returns the progress of a play made up of file reads. Following the IAB's podcast measurement guidelines, a download
 * counts if it holds the first minute, or the whole file if that is shorter. Seconds are estimated from the average bit
 * rate.
 *
 * @param bytes number of distinct bytes read
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
