import type { ServiceError } from './errors.ts';
import type { VideoStatus } from './wire/videos.ts';

/** A wait of the client, reported before it starts. */
export interface WaitNote {
  /** In words: `get video`, `upload file`. */
  readonly operation: string;
  /**
   * `rate limited`: the service, or its upload address, answered 429. `failed`: the last attempt failed in a way that
   * may pass. `not ready`: the video is neither ready nor failed.
   */
  readonly reason: 'rate limited' | 'failed' | 'not ready';
  /** Until the next request, in milliseconds. */
  readonly ms: number;
  /** The failure, unless the reason is `not ready`. */
  readonly error?: ServiceError;
  /** If the reason is `not ready`: the status of the video, in printable form. */
  readonly status?: VideoStatus;
}
