import type { Video, WaitNote, WaitOptions } from '@dropcast/client';
import { formatDuration } from '../output/format.ts';
import type { Session } from './session.ts';

/**
 * Interval between polls. A short file is ready within seconds, while the user is watching. A long one takes longer,
 * and every poll counts against the thousand requests per hour that the daemon also needs (api-spec section 8): 30
 * polls in the first minute, then 240 per hour.
 */
const intervalMs = (waitedMs: number): number => (waitedMs < 60_000 ? 2_000 : 15_000);

const pace: WaitOptions = {
  intervalMs,
  /** Longest wait for a video, the same as the daemon's default (design section 3, poll). */
  waitMs: 24 * 3_600_000,
  /**
   * Longest pause to accept from the service. The user asked to wait and sees the reason, and a rate limit lasts at
   * most an hour (api-spec section 8).
   */
  maxRetryAfterMs: 3_600_000,
};

/** Receives each video status, and why news of it is slow to arrive (null while the service is answering). */
export type OnStatus = (status: string, why: string | null) => void;

/**
 * Waits until a video is ready.
 *
 * @param onStatus called with the first status and with every change
 * @throws {VideoFailedError} when processing failed
 * @throws {RateLimitedError} when the service asks for a pause of more than an hour
 * @throws {WaitTimeoutError} after 24 hours
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

/** Why news of the video is slow to arrive; null for an ordinary pause between polls. */
function whyOf({ reason, ms, error }: WaitNote): string | null {
  if (reason === 'not ready') return null;
  const what = reason === 'rate limited' ? 'rate limited' : (error?.message ?? 'the service does not answer');
  return `${what}; checking again in ${formatDuration(ms)}`;
}
