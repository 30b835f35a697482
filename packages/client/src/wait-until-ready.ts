import { RateLimitedError, ServiceError, WaitTimeoutError } from './errors.ts';
import { getVideo } from './wire/requests.ts';
import type { Scrub } from './transport/scrub.ts';
import { plain } from './transport/answer-body.ts';
import type { Video } from './wire/wire.ts';
import type { AskingOptions, Caller } from './caller.ts';
import { failedVideo } from './failed-video.ts';
import { isPassing } from './retry.ts';
import { longestTimerMs, requireWithin } from './settings.ts';
import type { WaitOptions } from './video-client.ts';

const defaultWaitMs = 3_600_000;
const defaultIntervalMs = 5000;
const leastIntervalMs = 1000;

/** A service that answered before may be away for so long; one that never answered may not. */
const outageMs = 300_000;

/** @throws as `Videos.waitUntilReady` */
export async function waitUntilReady(caller: Caller, id: string, options: WaitOptions): Promise<Video> {
  const { waitMs = defaultWaitMs, intervalMs = defaultIntervalMs } = options;
  requireWithin('waitMs', waitMs, [0, longestTimerMs]);
  requireWithin('intervalMs', intervalMs, [leastIntervalMs, longestTimerMs]);
  const signal = caller.untilClosed(options.signal);
  const endsAt = caller.elapsed() + waitMs;
  const scrub = caller.scrub([]);
  const heard = new Heard(options.onStatus);
  for (;;) {
    const leftMs = Math.max(0, endsAt - caller.elapsed());
    const { video, error, pauseMs } = await look(caller, id, { ...options, maxRetryAfterMs: leftMs, heard });
    if (video?.status === 'ready') return video;
    if (video?.status === 'failed') throw failedVideo(video, scrub);
    const stillMs = endsAt - caller.elapsed();
    if (stillMs <= 0 || pauseMs > stillMs) throw error ?? new WaitTimeoutError(id, waitMs, heard.status(scrub));
    await caller.sleep(Math.min(Math.max(intervalMs, pauseMs), stillMs), signal);
  }
}

interface Found {
  readonly video?: Video;
  /** A failure that can be lived with for the time being. */
  readonly error?: ServiceError;
  /** What the service asks for. */
  readonly pauseMs: number;
}

async function look(
  caller: Caller,
  id: string,
  { heard, ...options }: AskingOptions & { readonly heard: Heard },
): Promise<Found> {
  const video = await caller.ask(getVideo(id), options).catch((error: unknown) => {
    if (error instanceof ServiceError && heard.canBear(error, caller.elapsed())) return error;
    throw error;
  });
  if (video instanceof ServiceError) return { error: video, pauseMs: video.retryAfterMs ?? 0 };
  heard.note(video.status, caller.elapsed());
  return { video, pauseMs: 0 };
}

/** What was heard of the video so far. */
class Heard {
  readonly #onStatus: WaitOptions['onStatus'];
  #status: string | undefined;
  #atMs = 0;

  constructor(onStatus: WaitOptions['onStatus']) {
    this.#onStatus = onStatus;
  }

  /** The last one, as it may be printed. */
  status(scrub: Scrub): string | undefined {
    return this.#status === undefined ? undefined : plain(scrub(this.#status));
  }

  note(status: string, nowMs: number): void {
    this.#atMs = nowMs;
    if (status === this.#status) return;
    this.#status = status;
    this.#onStatus?.(status);
  }

  canBear(error: ServiceError, nowMs: number): boolean {
    if (error instanceof RateLimitedError) return true;
    return this.#status !== undefined && isPassing(error) && nowMs - this.#atMs < outageMs;
  }
}
