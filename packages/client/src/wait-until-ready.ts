import { RateLimitedError, ServiceError, VideoFailedError, WaitTimeoutError } from './errors.ts';
import { getVideo } from './wire/requests.ts';
import type { Scrub } from './transport/scrub.ts';
import { plain } from './transport/answer-body.ts';
import type { Video } from './wire/wire.ts';
import type { AskingOptions, Caller } from './caller.ts';
import { isPassing } from './retry.ts';
import { longestTimerMs, requireWithin } from './settings.ts';
import type { WaitOptions } from './video-client.ts';

const defaultWaitMs = 3_600_000;
const defaultIntervalMs = 5000;
const leastIntervalMs = 1000;

/** How long a service that answered before may be unreachable. One that never answered gets no such time. */
const outageMs = 300_000;

/** @throws as `Videos.waitUntilReady` */
export async function waitUntilReady(caller: Caller, id: string, options: WaitOptions): Promise<Video> {
  const { waitMs = defaultWaitMs, intervalMs = defaultIntervalMs } = options;
  requireWithin('waitMs', waitMs, [0, longestTimerMs]);
  requireWithin('intervalMs', intervalMs, [leastIntervalMs, longestTimerMs]);
  const signal = caller.untilClosed(options.signal);
  const endsAt = caller.elapsed() + waitMs;
  const scrub = caller.scrub([]);
  const log = new StatusLog(options.onStatus);
  for (;;) {
    const leftMs = Math.max(0, endsAt - caller.elapsed());
    const { video, error, pauseMs } = await look(caller, id, { ...options, maxRetryAfterMs: leftMs, log });
    if (video?.status === 'ready') return video;
    if (video?.status === 'failed') throw failedVideo(video, scrub);
    const stillMs = endsAt - caller.elapsed();
    if (stillMs <= 0 || pauseMs > stillMs) throw error ?? new WaitTimeoutError(id, waitMs, log.status(scrub));
    await caller.sleep(Math.min(Math.max(intervalMs, pauseMs), stillMs), signal);
  }
}

/** The error for a video whose status is `failed`, with the reason as it may be printed. */
export function failedVideo({ id, message }: Video, scrub: Scrub): VideoFailedError {
  return new VideoFailedError(id, message === undefined ? undefined : plain(scrub(message)));
}

interface Found {
  readonly video?: Video;
  /** A failure that may pass. */
  readonly error?: ServiceError;
  /** The pause that the service asks for. */
  readonly pauseMs: number;
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
  if (video instanceof ServiceError) return { error: video, pauseMs: video.retryAfterMs ?? 0 };
  log.note(video.status, caller.elapsed());
  return { video, pauseMs: 0 };
}

/** What the service has said about the video so far. */
class StatusLog {
  readonly #onStatus: WaitOptions['onStatus'];
  #status: string | undefined;
  #atMs = 0;

  constructor(onStatus: WaitOptions['onStatus']) {
    this.#onStatus = onStatus;
  }

  /** The last status, as it may be printed. */
  status(scrub: Scrub): string | undefined {
    return this.#status === undefined ? undefined : plain(scrub(this.#status));
  }

  note(status: string, nowMs: number): void {
    this.#atMs = nowMs;
    if (status === this.#status) return;
    this.#status = status;
    this.#onStatus?.(status);
  }

  mayPass(error: ServiceError, nowMs: number): boolean {
    if (error instanceof RateLimitedError) return true;
    return this.#status !== undefined && isPassing(error) && nowMs - this.#atMs < outageMs;
  }
}
