import type { ServiceError } from './errors.ts';
import type { VideoStatus } from './wire/videos.ts';

/** A wait of the client, reported before it starts. */
export interface WaitNote {
  /** The operation in words: `get video`, `upload file`. */
  readonly operation: string;
  /**
   * `rate limited`: the service or its upload address answered 429. `failed`: the last attempt failed with a transient
   * error. `not ready`: the video is neither ready nor failed.
   */
  readonly reason: 'rate limited' | 'failed' | 'not ready';
  /** Time until the next request, in milliseconds. */
  readonly ms: number;
  /** The failure, unless the reason is `not ready`. */
  readonly error?: ServiceError;
  /** The video's status in printable form, if the reason is `not ready`. */
  readonly status?: VideoStatus;
}
