import { WaitTimeoutError } from '@dropcast/client';
import type { Video, WaitOptions } from '@dropcast/client';
import type { Session } from './session.ts';

/**
 * A short file is ready within seconds, and somebody waits for it. A long one takes longer, and every poll counts in the thousand requests
 * an hour that the daemon needs too (api-spec section 8): 30 in the first minute, then 240 an hour.
 */
const atFirst: WaitOptions = { waitMs: 60_000, intervalMs: 2_000 };
/** As long in total as the daemon waits by default (design section 3, poll). */
const fromThenOn: WaitOptions = { waitMs: 24 * 3_600_000, intervalMs: 15_000 };

/**
 * Waits until a video is ready.
 *
 * @param onStatus called with the first status and with every change
 * @throws {VideoFailedError} when processing failed
 * @throws {WaitTimeoutError} after a day
 */
export async function follow(
  { shell, client }: Session,
  id: string,
  onStatus: (status: string) => void,
): Promise<Video> {
  const wait = (pace: WaitOptions) => client.videos.waitUntilReady(id, { ...pace, onStatus, signal: shell.stopping });
  try {
    return await wait(atFirst);
  } catch (error) {
    if (!(error instanceof WaitTimeoutError)) throw error;
    return await wait(fromThenOn);
  }
}
