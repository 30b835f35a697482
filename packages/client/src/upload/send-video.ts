import { AddressDeadError, FileChangedError, UploadConflictError, UploadRejectedError } from '../errors.ts';
import { getVideo } from '../wire/requests.ts';
import { originOf, secretsOfAddress } from '../transport/scrub.ts';
import type { CreatedVideo, Video } from '../wire/videos.ts';
import { afterFailedPut } from './after-failed-put.ts';
import { partBytes } from './body-reader.ts';
import type { BodyReader } from './body-reader.ts';
import { FilePass } from './file-pass.ts';
import type { ProtocolStrategy, UploadProtocol } from './protocols/protocol.ts';
import { OtherProtocol, UploadHost } from './upload-host.ts';
import { checkHeaders } from './put-headers.ts';
import type { FormChoice } from './upload-forms.ts';
import { failedNote } from '../caller.ts';
import type { Caller } from '../caller.ts';
import { untilAborted } from '../until-aborted.ts';
import { failedVideo } from '../wait-until-ready.ts';
import { longestTimerMs, requireWithin } from '../settings.ts';
import type { SeekableSource, SendCallOptions, UploadedVideo, UploadSession } from '../video-client.ts';

/** The record's id and its upload address with headers. */
export type SendTo = Pick<CreatedVideo, 'id' | 'uploadUrl' | 'uploadHeaders'>;

const defaultStallTimeoutMs = 60_000;

/** Requests of one attempt: the usual one, one in another protocol, and one with other headers. */
const mostTries = 3;

/** Increment by which a session's `reach` grows, so that a large file needs few commits. */
const reachStepBytes = 64 * 1024 * 1024;

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

/** Like `UploadSession`, but also for one PUT, because its host may turn out to keep the bytes. */
type Session = Omit<UploadSession, 'protocol'> & { readonly protocol: UploadProtocol };

class Sending {
  readonly #caller: Caller;
  readonly #source: SeekableSource;
  readonly #to: Destination;
  readonly #signal: AbortSignal;
  /** Hash of the body, set once a complete body may have been sent. */
  #sha256: string | null = null;
  /** State of the upload on the host, which may keep the bytes of a PUT even if it has not said so. */
  #session: Session;
  /** Number of bytes that may have been sent. The `reach` of the session may be larger by up to a step. */
  #sentBytes: number;
  /** Protocol that the caller, an earlier process or an answer of the host named. */
  #protocol: UploadProtocol | undefined;

  constructor(caller: Caller, source: SeekableSource, to: Destination) {
    this.#caller = caller;
    this.#source = source;
    this.#to = to;
    this.#signal = caller.untilClosed(to.options.signal);
    const { session, protocol } = to.options;
    this.#session = session ?? { protocol: 'put', offset: 0, reach: 0, version: null };
    this.#sentBytes = this.#session.reach;
    this.#protocol = protocol ?? session?.protocol;
  }

  /** @returns null if another attempt should be made */
  async attempt(attempt: number): Promise<UploadedVideo | null> {
    try {
      return this.#uploaded(await this.#send(attempt));
    } catch (error) {
      if (this.#to.options.askAfterFailure === false) throw error;
      const facts = this.#caller.retryFacts(attempt, this.#to.options);
      const next = afterFailedPut(error, { ...facts, mayHaveArrived: this.#sha256 !== null });
      if (next === null) throw error;
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

  /** Sends the file, and again if the host's answer shows that it takes other headers or speaks another protocol. */
  #send(attempt: number): Promise<string> {
    const { forms } = this.#caller;
    return forms.found(this.#choice(), this.#signal, async () => {
      for (let tries = 1; ; tries += 1) {
        const choice = this.#choice();
        const headers = forms.headersFor(choice);
        try {
          const sha256 = await this.#sendAs(this.#strategy(), headers, attempt);
          forms.took(choice, headers);
          return sha256;
        } catch (error) {
          const isLast = tries === mostTries;
          if (error instanceof OtherProtocol) {
            if (isLast || this.#to.options.protocol !== undefined) throw error.error;
            this.#protocol = error.protocol;
            forms.speaks(choice.url, error.protocol);
          } else if (isLast || !forms.mayTryOthers(choice, headers, error)) throw error;
        }
      }
    });
  }

  /** Sends the file from the host's offset on. @throws {OtherProtocol} the host speaks another protocol */
  async #sendAs(
    strategy: ProtocolStrategy,
    headers: Readonly<Record<string, string>>,
    attempt: number,
  ): Promise<string> {
    const { url, options } = this.#to;
    const { sizeBytes } = this.#source;
    const { stallTimeoutMs = defaultStallTimeoutMs, answerTimeoutMs } = options;
    await using reader = await this.#open();
    requireSize(reader, this.#source);
    const host = new UploadHost(this.#caller, strategy, {
      url,
      headers,
      attempt,
      sizeBytes,
      stallTimeoutMs,
      answerTimeoutMs,
      signal: this.#signal,
      onProgress: (sentBytes) => options.onProgress?.(sentBytes, sizeBytes),
    });
    try {
      return await this.#deliver(host, reader, await this.#locate(host, reader));
    } catch (error) {
      // The committed reach may exceed what was sent. If lowering it fails, the larger one is still safe.
      if (this.#sha256 === null && this.#sentBytes < this.#session.reach)
        await this.#remember({ reach: this.#sentBytes }).catch(() => {});
      throw error;
    }
  }

  async #deliver(host: UploadHost, reader: BodyReader, start: number): Promise<string> {
    const { sizeBytes } = this.#source;
    await using pass = new FilePass({
      reader,
      sizeBytes,
      signal: this.#signal,
      beforeLastPart: async (hash) => {
        this.#requireSameHash(hash);
        await this.#to.options.beforeLastPart?.(hash);
        this.#sha256 = hash;
        this.#session = { ...this.#session, reach: sizeBytes };
      },
    });
    await pass.skipTo(start);
    if (start > 0 && start < sizeBytes) await this.#requireUntouched(reader);
    for (let isOver = start === sizeBytes && sizeBytes > 0; !isOver;) {
      const offset = await host.deliver(pass, (upTo) => this.#beforeBytes(upTo));
      isOver = offset === sizeBytes;
      if (!isOver) await this.#remember({ offset });
    }
    // If the host already had the whole file, this compares its hash.
    await pass.release();
    return pass.sha256 ?? '';
  }

  /** The headers and the protocol as far as they are determined before the host has answered. */
  #choice(): FormChoice {
    const { url, asked, options } = this.#to;
    return {
      url,
      protocol: this.#protocol,
      name: this.#source.name,
      asked: this.#caller.withoutKey(asked, originOf(url)),
      own: options.headers ?? {},
      contentType: this.#strategy().protocol === 'tus' ? null : options.contentType,
    };
  }

  #strategy(): ProtocolStrategy {
    return this.#caller.forms.strategyFor(this.#to.url, this.#protocol, this.#source.sizeBytes);
  }

  /** Returns how much of this file the host has, and begins or continues the session. */
  async #locate(host: UploadHost, reader: BodyReader): Promise<number> {
    const { protocol, asksFirst } = host.strategy;
    const { version = null } = reader;
    const { reach } = this.#session;
    const isSame = reach === 0 || (version !== null && version === this.#session.version);
    const offset = reach > 0 || asksFirst ? await host.locate() : 0;
    if (offset > reach) throw beyond(host, offset, reach);
    // For a file that the host has completely, the hash is compared instead.
    const isPartial = offset > 0 && offset < this.#source.sizeBytes;
    if (isPartial && !isSame) throw touched(this.#source);
    // After a change, bytes of the former version may still arrive at the host, so no version is noted.
    await this.#remember({ protocol, offset, version: isSame ? version : null });
    return offset;
  }

  /**
   * Looks at the file again after the bytes that the host has were read once more for the hash. If the file was
   * overwritten after it was opened, that hash would be of other bytes than the host's, and equal to the file's.
   */
  async #requireUntouched(opened: BodyReader): Promise<void> {
    await using now = await this.#open();
    if (now.version !== opened.version) throw touched(this.#source);
  }

  /** Commits how far the file may be sent, before it is. */
  #beforeBytes(upTo: number): Promise<void> | null {
    const last = lastPartAt(this.#source);
    // `beforeLastPart` commits the last part.
    if (upTo > last) return null;
    this.#sentBytes = Math.max(this.#sentBytes, upTo);
    if (upTo <= this.#session.reach) return null;
    if (this.#session.protocol !== 'put') return this.#remember({ reach: Math.min(upTo + reachStepBytes, last) });
    this.#session = { ...this.#session, reach: upTo };
    return null;
  }

  async #remember(change: Partial<Session>): Promise<void> {
    this.#session = { ...this.#session, ...change };
    const { protocol, ...sent } = this.#session;
    if (protocol !== 'put') await this.#to.options.onSession?.({ protocol, ...sent });
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

  /** Requests the status, without the headers that the caller chose for the upload host. */
  #look(): Promise<Video> {
    const { id, url, options } = this.#to;
    return this.#caller.ask(getVideo(id), { ...options, headers: undefined, secrets: secretsOfAddress(url) });
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

/** Position of the last part, which is held back (parts-ahead.ts). */
function lastPartAt({ sizeBytes }: SeekableSource): number {
  return Math.max(0, sizeBytes - partBytes);
}

/** The host claims bytes that were never sent: whatever it has is not this file. */
function beyond({ strategy }: UploadHost, offset: number, reach: number): AddressDeadError {
  return new AddressDeadError(
    `the upload host says (${strategy.protocol}) that it has ${offset} bytes, but at most ${reach} were sent`,
    { code: 'wrong_offset' },
  );
}

/** The bytes on the host may differ from those in the file now, and the host keeps them. */
function touched({ name }: SeekableSource): AddressDeadError {
  return new AddressDeadError(
    `${JSON.stringify(name)} may have changed since a part of it was sent, so its upload cannot be continued`,
    { code: 'file_touched' },
  );
}

function requireAddress({ id, uploadUrl }: Pick<CreatedVideo, 'id' | 'uploadUrl'>): string {
  if (uploadUrl !== null) return uploadUrl;
  throw new UploadRejectedError(`${JSON.stringify(id)} has no upload address, because it is an import`, {
    code: 'no_upload_address',
  });
}
