import type { Video, WaitNote, WaitOptions } from '@dropcast/client';
import { formatDuration } from '../output/format.ts';
import type { Session } from './session.ts';

/**
 * A short file is ready within seconds, while the user waits. A long one takes longer, and every poll counts in the
 * thousand requests an hour that the daemon needs too (api-spec section 8): 30 in the first minute, then 240 an hour.
 */
const intervalMs = (waitedMs: number): number => (waitedMs < 60_000 ? 2_000 : 15_000);

const pace: WaitOptions = {
  intervalMs,
  /** As long as the daemon waits by default (design section 3, poll). */
  waitMs: 24 * 3_600_000,
  /** The user asked to wait, and sees the reason: a rate limit lasts an hour at most (api-spec section 8). */
  maxRetryAfterMs: 3_600_000,
};

/** Receives each status of the video, and why there is no news of it; null: the service answers. */
export type OnStatus = (status: string, why: string | null) => void;

/**
 * Waits until a video is ready.
 *
 * @param onStatus called with the first status and with every change
 * @throws {VideoFailedError} when processing failed
 * @throws {RateLimitedError} when the service asks for a pause of more than an hour
 * @throws {WaitTimeoutError} after a day
 */
export async function follow({ shell, client }: Session, id: string, onStatus: OnStatus): Promise<Video> {
  let last = 'processing';
  return await client.videos.waitUntilReady(id, {
    ...pace,
    signal: shell.stopping,
    onStatus: (status) => {
      last = status;
      onStatus(status, null);
    },
    onWait: (note) => onStatus(last, whyOf(note)),
  });
}

/** Why there is no news of the video; null for a pause between two answers. */
function whyOf({ reason, ms, error }: WaitNote): string | null {
  if (reason === 'not ready') return null;
  const what = reason === 'rate limited' ? 'rate limited' : (error?.message ?? 'the service does not answer');
  return `${what}; checking again in ${formatDuration(ms)}`;
}
