import { FileChangedError, UploadConflictError, UploadRejectedError } from '../errors.ts';
import { getVideo } from '../wire/requests.ts';
import { originOf, secretsOfAddress } from '../transport/scrub.ts';
import type { CreatedVideo, Video } from '../wire/videos.ts';
import { afterFailedPut } from './after-failed-put.ts';
import type { BodyReader } from './body-reader.ts';
import { checkHeaders } from './put-headers.ts';
import { failedNote } from '../caller.ts';
import type { Caller } from '../caller.ts';
import { untilAborted } from '../until-aborted.ts';
import { failedVideo } from '../wait-until-ready.ts';
import { longestTimerMs, requireWithin } from '../settings.ts';
import type { SeekableSource, SendCallOptions, UploadedVideo } from '../video-client.ts';

/** The record's id and its upload address with headers. */
export type SendTo = Pick<CreatedVideo, 'id' | 'uploadUrl' | 'uploadHeaders'>;

const defaultStallTimeoutMs = 60_000;

/** @throws TypeError options are out of range */
export function checkSendOptions({
  stallTimeoutMs = 1,
  answerTimeoutMs = 1,
  headers = {},
  contentType,
}: SendCallOptions): void {
  requireWithin('stallTimeoutMs', stallTimeoutMs, [1, longestTimerMs]);
  requireWithin('answerTimeoutMs', answerTimeoutMs, [1, longestTimerMs]);
  checkHeaders({ ...headers, ...(typeof contentType === 'string' && { 'content-type': contentType }) });
}

/** Sends bytes to a record's upload address, and retries where that is safe. @throws as `Videos.send` */
export async function sendVideo(
  caller: Caller,
  { source, to }: { readonly source: SeekableSource; readonly to: SendTo },
  options: SendCallOptions,
): Promise<UploadedVideo> {
  const sending = new Sending(caller, source, {
    id: to.id,
    url: requireAddress(to),
    asked: to.uploadHeaders ?? {},
    options,
  });
  for (let attempt = 1; ; attempt += 1) {
    const sent = await sending.attempt(attempt);
    if (sent !== null) return sent;
  }
}

interface Destination {
  readonly id: string;
  readonly url: string;
  readonly asked: Readonly<Record<string, string>>;
  readonly options: SendCallOptions;
}

class Sending {
  readonly #caller: Caller;
  readonly #source: SeekableSource;
  readonly #to: Destination;
  readonly #signal: AbortSignal;
  /** Hash of the body, set once a complete body may have been sent. */
  #sha256: string | null = null;

  constructor(caller: Caller, source: SeekableSource, to: Destination) {
    this.#caller = caller;
    this.#source = source;
    this.#to = to;
    this.#signal = caller.untilClosed(to.options.signal);
  }

  /** @returns null if another attempt should be made */
  async attempt(attempt: number): Promise<UploadedVideo | null> {
    try {
      return this.#uploaded(await this.#put(attempt));
    } catch (error) {
      if (this.#to.options.askAfterFailure === false) throw error;
      const facts = this.#caller.retryFacts(attempt, this.#to.options);
      const next = afterFailedPut(error, { ...facts, mayHaveArrived: this.#sha256 !== null });
      if (next.kind === 'give up') throw error;
      await this.#caller.wait(failedNote('upload file', error, next.waitMs), {
        ...this.#to.options,
        signal: this.#signal,
      });
      const video = await this.#look();
      if (video.status !== 'pending') return this.#uploaded(this.#requireOurs(video));
      if (!next.maySendAgain) throw error;
      return null;
    }
  }

  /** Sends the body, and once more with other headers if the host signed its address with those. */
  async #put(attempt: number): Promise<string> {
    const { url, asked, options } = this.#to;
    const origin = originOf(url);
    const { headers: own = {}, contentType } = options;
    const choice = { name: this.#source.name, asked: this.#caller.withoutKey(asked, origin), own, contentType };
    const { putHeaders } = this.#caller;
    for (let tries = 1; ; tries += 1) {
      const headers = putHeaders.headersFor(origin, choice);
      try {
        const sha256 = await this.#putWith(headers, attempt);
        putHeaders.took(origin, choice, headers);
        return sha256;
      } catch (error) {
        if (!putHeaders.mayTryOthers(origin, choice, headers, error) || tries === 2) throw error;
      }
    }
  }

  async #putWith(headers: Readonly<Record<string, string>>, attempt: number): Promise<string> {
    const { url, options } = this.#to;
    const { sizeBytes } = this.#source;
    await using reader = await this.#open();
    requireSize(reader, this.#source);
    const { sha256 } = await this.#caller.put(
      { reader, sizeBytes },
      {
        url,
        headers,
        signal: this.#signal,
        stallTimeoutMs: options.stallTimeoutMs ?? defaultStallTimeoutMs,
        answerTimeoutMs: options.answerTimeoutMs,
        onProgress: (sentBytes) => options.onProgress?.(sentBytes, sizeBytes),
        beforeLastPart: async (hash) => {
          this.#requireSameHash(hash);
          await options.beforeLastPart?.(hash);
          this.#sha256 = hash;
        },
      },
      attempt,
    );
    return sha256;
  }

  /**
   * Opens the source. An aborted call does not wait for a source that hangs; a reader that opens later is disposed of.
   */
  async #open(): Promise<BodyReader> {
    const opening = (async () => await this.#source.openReader())();
    try {
      return await untilAborted(opening, this.#signal, 'the upload');
    } catch (error) {
      void opening.then((late) => late[Symbol.asyncDispose]()).catch(() => {});
      throw error;
    }
  }

  /** Rejects a body that differs from an earlier attempt's, since nobody could tell which of the two arrived. */
  #requireSameHash(sha256: string): void {
    if (this.#sha256 === null || this.#sha256 === sha256) return;
    throw new FileChangedError(`${JSON.stringify(this.#source.name)} gave different bytes than before`, {
      code: 'file_changed',
    });
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
      `the service has a file for ${JSON.stringify(video.id)}, but this one was never sent completely`,
      { code: 'upload_conflict' },
    );
  }

  #uploaded(sha256: string): UploadedVideo {
    return { id: this.#to.id, sizeBytes: this.#source.sizeBytes, sha256 };
  }
}

/** Rejects a file that grew: its first bytes would arrive as a complete video. */
function requireSize(reader: BodyReader, { name, sizeBytes }: SeekableSource): void {
  if (reader.sizeBytes === undefined || reader.sizeBytes === sizeBytes) return;
  throw new FileChangedError(`${JSON.stringify(name)} has ${reader.sizeBytes} bytes instead of ${sizeBytes}`, {
    code: 'file_changed',
  });
}

function requireAddress({ id, uploadUrl }: Pick<CreatedVideo, 'id' | 'uploadUrl'>): string {
  if (uploadUrl !== null) return uploadUrl;
  throw new UploadRejectedError(`${JSON.stringify(id)} has no upload address, because it is an import`, {
    code: 'no_upload_address',
  });
}
