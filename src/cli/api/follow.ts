import { WaitTimeoutError } from '@dropcast/client';
import type { Video, WaitOptions } from '@dropcast/client';
import type { Session } from './session.ts';

/**
 * A short file is ready in seconds, and a person waits. A long one takes its time, and each question is one of the thousand an
 * hour that the daemon lives on too (api-spec section 8): 30 in the first minute, then 240 an hour.
 */
const atFirst: WaitOptions = { waitMs: 60_000, intervalMs: 2_000 };
/** In all as long as the daemon by default (design section 3, poll). */
const fromThenOn: WaitOptions = { waitMs: 24 * 3_600_000, intervalMs: 15_000 };

/**
 * Waits until a video is ready.
 *
 * @param onStatus told the first status, and each that differs from the last
 * @throws {VideoFailedError} it failed
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
