import { FileChangedError, UploadConflictError, UploadRejectedError } from '../errors.ts';
import { getVideo } from '../wire/requests.ts';
import { secretsOfAddress } from '../transport/scrub.ts';
import type { CreatedVideo, Video } from '../wire/wire.ts';
import { afterFailedPut } from './after-failed-put.ts';
import type { Caller } from '../caller.ts';
import { failedVideo } from '../failed-video.ts';
import { longestTimerMs, requireWithin } from '../settings.ts';
import type { Sendable } from './upload-source.ts';
import type { SendCallOptions, UploadedVideo } from '../video-client.ts';

const defaultStallTimeoutMs = 60_000;

/** @throws TypeError for options out of their range */
export function checkSendOptions({ stallTimeoutMs = 1, answerTimeoutMs = 1 }: SendCallOptions): void {
  requireWithin('stallTimeoutMs', stallTimeoutMs, [1, longestTimerMs]);
  requireWithin('answerTimeoutMs', answerTimeoutMs, [1, longestTimerMs]);
}

/** Sends a file to the address of its record, again where that is safe. @throws as `Videos.send` */
export async function sendFile(
  caller: Caller,
  { file, to }: { readonly file: Sendable; readonly to: Pick<CreatedVideo, 'id' | 'uploadUrl'> },
  options: SendCallOptions,
): Promise<UploadedVideo> {
  const sending = new Sending(caller, file, { id: to.id, url: requireAddress(to), options });
  for (let attempt = 1; ; attempt += 1) {
    const sent = await sending.attempt(attempt);
    if (sent !== null) return sent;
  }
}

interface Destination {
  readonly id: string;
  readonly url: string;
  readonly options: SendCallOptions;
}

class Sending {
  readonly #caller: Caller;
  readonly #file: Sendable;
  readonly #to: Destination;
  readonly #signal: AbortSignal;
  /** Known once a whole body may have left. */
  #sha256: string | null = null;

  constructor(caller: Caller, file: Sendable, to: Destination) {
    this.#caller = caller;
    this.#file = file;
    this.#to = to;
    this.#signal = caller.untilClosed(to.options.signal);
  }

  /** @returns null when it is to be tried again */
  async attempt(attempt: number): Promise<UploadedVideo | null> {
    try {
      return this.#uploaded(await this.#put(attempt));
    } catch (error) {
      const facts = this.#caller.retryFacts(attempt, this.#to.options);
      const next = afterFailedPut(error, { ...facts, mayHaveArrived: this.#sha256 !== null });
      if (next.kind === 'give up') throw error;
      await this.#caller.sleep(next.waitMs, this.#signal);
      const video = await this.#look();
      if (video.status !== 'pending') return this.#uploaded(this.#requireOurs(video));
      if (!next.maySendAgain) throw error;
      return null;
    }
  }

  async #put(attempt: number): Promise<string> {
    const { url, options } = this.#to;
    await using source = await this.#file.open();
    const { sizeBytes } = this.#file;
    const { sha256 } = await this.#caller.put(
      source,
      {
        url,
        name: this.#file.name,
        signal: this.#signal,
        stallTimeoutMs: options.stallTimeoutMs ?? defaultStallTimeoutMs,
        ...(options.answerTimeoutMs !== undefined && { finalizeTimeoutMs: options.answerTimeoutMs }),
        onProgress: (sentBytes) => options.onProgress?.(sentBytes, sizeBytes),
        beforeLastPart: async (hash) => this.#noteHash(hash),
      },
      attempt,
    );
    return sha256;
  }

  /** Two bodies of different content to one address: nobody could say which one arrived. */
  #noteHash(sha256: string): void {
    if (this.#sha256 !== null && this.#sha256 !== sha256) {
      throw new FileChangedError(`${JSON.stringify(this.#file.name)} gave other bytes than before`, {
        code: 'file_changed',
      });
    }
    this.#sha256 = sha256;
  }

  #look(): Promise<Video> {
    const { id, url, options } = this.#to;
    return this.#caller.ask(getVideo(id), { ...options, secrets: secretsOfAddress(url) });
  }

  /** @throws {VideoFailedError | UploadConflictError} */
  #requireOurs(video: Video): string {
    if (video.status === 'failed') throw failedVideo(video, this.#caller.scrub(secretsOfAddress(this.#to.url)));
    if (this.#sha256 !== null) return this.#sha256;
    throw new UploadConflictError(
      `the service has a file for ${JSON.stringify(video.id)}, but ours was never sent whole`,
      {
        code: 'upload_conflict',
      },
    );
  }

  #uploaded(sha256: string): UploadedVideo {
    return { id: this.#to.id, sizeBytes: this.#file.sizeBytes, sha256 };
  }
}

function requireAddress({ id, uploadUrl }: Pick<CreatedVideo, 'id' | 'uploadUrl'>): string {
  if (uploadUrl !== null) return uploadUrl;
  throw new UploadRejectedError(`${JSON.stringify(id)} has no upload address: it is an import`, {
    code: 'no_upload_address',
  });
}
