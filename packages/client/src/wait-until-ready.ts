import { AbortedError, RateLimitedError, ServiceError, VideoFailedError, WaitTimeoutError } from './errors.ts';
import { failedNote } from './caller.ts';
import type { AskingOptions, Caller } from './caller.ts';
import { Deadline } from './deadline.ts';
import { requireKeys, waitKeys } from './option-keys.ts';
import { isPassing } from './retry.ts';
import { checkOptions, longestTimerMs, requireWithin } from './settings.ts';
import { plain } from './transport/answer-body.ts';
import type { Scrub } from './transport/scrub.ts';
import type { WaitOptions } from './video-client.ts';
import type { WaitNote } from './waiting.ts';
import { getVideo } from './wire/requests.ts';
import type { Video, VideoStatus } from './wire/videos.ts';

const defaultWaitMs = 3_600_000;
const defaultIntervalMs = 5000;
const leastIntervalMs = 100;

/**
 * The last request starts this long before the end, to leave time for its response. Waits under two seconds use half of
 * their length.
 */
const lastLookMs = 1000;

/** How long a service that has answered before may be unreachable. One that has never answered fails immediately. */
const outageMs = 300_000;

/** @throws as `Videos.waitUntilReady` */
export async function waitUntilReady(caller: Caller, id: string, options: WaitOptions): Promise<Video> {
  const { waitMs = defaultWaitMs, intervalMs = defaultIntervalMs } = options;
  requireKeys('videos.waitUntilReady', [options, waitKeys]);
  checkOptions(options);
  requireWithin('waitMs', waitMs, [0, longestTimerMs]);
  const nextMs = (): number => {
    // Rounded: the clock returns fractions of a millisecond, and so may the caller's function.
    const ms = typeof intervalMs === 'function' ? Math.ceil(intervalMs(Math.round(waitMs - leftMs()))) : intervalMs;
    requireWithin('intervalMs', ms, [leastIntervalMs, longestTimerMs]);
    return ms;
  };
  const endsAt = caller.elapsed() + waitMs;
  const leftMs = (): number => endsAt - caller.elapsed();
  nextMs();
  const scrub = caller.scrub([]);
  const log = new StatusLog(options.onStatus);
  // A `waitMs` of 0 means one request without a deadline.
  using deadline = new Deadline(waitMs === 0 ? Infinity : waitMs);
  const ofCaller = caller.untilClosed(options.signal);
  const signal = AbortSignal.any([ofCaller, deadline.signal]);
  const timeout = (): WaitTimeoutError => new WaitTimeoutError(id, waitMs, log.status(scrub));
  try {
    for (;;) {
      const { video, error } = await look(caller, id, { ...options, signal, leftMs, log });
      if (video?.status === 'ready') return video;
      if (video?.status === 'failed') throw failedVideo(video, scrub);
      const pauseMs = error?.retryAfterMs ?? 0;
      if (error !== undefined && pauseMs > caller.maxRetryAfterMs(options)) throw error;
      const mostMs = leftMs() - Math.min(lastLookMs, waitMs / 2);
      if (mostMs <= 0 || pauseMs > mostMs) throw error ?? timeout();
      const ms = Math.ceil(Math.min(Math.max(nextMs(), pauseMs), mostMs));
      await caller.wait(noteOf(error, ms, log.status(scrub)), { ...options, signal });
    }
  } catch (error) {
    const isCutOff = error instanceof AbortedError && deadline.signal.aborted && !ofCaller.aborted;
    throw isCutOff ? timeout() : error;
  }
}

/** Builds the error for a video whose status is `failed`, with the service's reason in printable form. */
export function failedVideo({ id, message }: Video, scrub: Scrub): VideoFailedError {
  return new VideoFailedError(id, message === undefined ? undefined : plain(scrub(message)));
}

interface Found {
  readonly video?: Video | undefined;
  /** A transient failure. */
  readonly error?: ServiceError | undefined;
}

function noteOf(error: ServiceError | undefined, ms: number, status: string | undefined): WaitNote {
  if (error !== undefined) return failedNote('get video', error, ms);
  return { operation: 'get video', reason: 'not ready', ms, ...(status !== undefined && { status }) };
}

async function look(
  caller: Caller,
  id: string,
  { log, ...options }: AskingOptions & { readonly log: StatusLog },
): Promise<Found> {
  const video = await caller.ask(getVideo(id), options).catch((error: unknown) => {
    if (error instanceof ServiceError && log.mayPass(error, caller.elapsed())) return error;
    throw error;
  });
  if (video instanceof ServiceError) return { error: video };
  await log.note(video.status);
  return { video };
}

/** Tracks the video's status and how long the service has been unreachable. */
class StatusLog {
  readonly #onStatus: WaitOptions['onStatus'];
  #status: VideoStatus | undefined;
  /** When the service stopped answering; undefined while it answers. */
  #silentAtMs: number | undefined;

  constructor(onStatus: WaitOptions['onStatus']) {
    this.#onStatus = onStatus;
  }

  /** Returns the last status in printable form. */
  status(scrub: Scrub): string | undefined {
    return this.#status === undefined ? undefined : plain(scrub(this.#status));
  }

  async note(status: VideoStatus): Promise<void> {
    this.#silentAtMs = undefined;
    if (status === this.#status) return;
    this.#status = status;
    const told: unknown = this.#onStatus?.(status);
    await told;
  }

  mayPass(error: ServiceError, nowMs: number): boolean {
    this.#silentAtMs = error instanceof RateLimitedError ? undefined : (this.#silentAtMs ?? nowMs);
    if (this.#silentAtMs === undefined) return true;
    return this.#status !== undefined && isPassing(error) && nowMs - this.#silentAtMs < outageMs;
  }
}
