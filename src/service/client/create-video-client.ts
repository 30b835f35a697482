import type { VideoClient } from './video-client.ts';

export interface VideoClientOptions {
  /** With its version segment; https, or http on this machine. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** For one JSON exchange. Default 30 s. */
  readonly timeoutMs?: number;
  /** Repetitions of a request that may be repeated, 0 to 10. Default 2. */
  readonly maxRetries?: number;
  /** A `Retry-After` up to this is waited out; a longer one is handed to the caller as RateLimitedError. Default 60 s. */
  readonly maxRetryAfterMs?: number;
  readonly userAgent?: string;
  /** Further origins, beside that of `baseUrl`, whose uploads may see the key. */
  readonly sendKeyTo?: readonly string[];
  /** Certificates (PEM) to trust beside the known ones: the sandbox makes its own. */
  readonly ca?: string;
  readonly onRequest?: (note: RequestNote) => void;
  readonly onResponse?: (note: ResponseNote) => void;
}

/** A request that leaves now. `attempt` counts from 1. */
export interface RequestNote {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly attempt: number;
}

/** How it ended; without `status` no answer came. */
export interface ResponseNote extends RequestNote {
  readonly status?: number;
  readonly ms: number;
  readonly requestId?: string;
}

/** @throws TypeError for an address that is neither https nor on this machine, or an empty key */
export function createVideoClient(_options: VideoClientOptions): VideoClient {
  throw new Error('not there yet');
}
