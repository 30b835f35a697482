import type { ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agents } from 'got';

import { isSuccess, uploadError } from '../transport/answer.ts';
import type { Answer } from '../transport/answer.ts';
import type { Bandwidth } from './bandwidth.ts';
import type { BodySource } from './body-source.ts';
import { Line } from '../transport/connection.ts';
import { contentTypeOf } from './content-type.ts';
import { AbortedError, throwIfAborted, UploadServerError, UploadStalledError } from '../errors.ts';
import { exchange } from '../transport/exchange.ts';
import { openChecked } from './opened-file.ts';
import type { FileVersion } from './opened-file.ts';
import { createScrub, secretsOfAddress } from '../transport/scrub.ts';
import { UploadBody } from './upload-body.ts';
import type { UploadTarget, UploadTargets } from './upload-targets.ts';

export interface SendOptions {
  /** The signed upload address. Authorises itself; never printed. */
  readonly url: string;
  /** Tells the type of the content by its extension. */
  readonly name: string;
  readonly signal: AbortSignal;
  /** No byte moved for so long: broken off. */
  readonly stallTimeoutMs: number;
  /** From the last byte to the answer; 10 minutes by default. */
  readonly finalizeTimeoutMs?: number;
  readonly bandwidth?: Bandwidth;
  readonly onProgress?: (sentBytes: number) => void;
  /** The last part of the body leaves only after this has resolved: commit the hash durably there. */
  beforeLastPart(sha256: string): Promise<void>;
  /** Every answer of the upload address, whatever it says. */
  readonly onAnswer?: (answer: Answer) => void;
}

export interface UploadOptions extends Omit<SendOptions, 'name'> {
  /** Absolute path of the watched folder. */
  readonly root: string;
  /** Absolute path of the file. */
  readonly path: string;
  readonly expected: FileVersion;
}

export interface Uploaded {
  /** Hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** What the upload gets from the service client it belongs to. */
export interface UploadWorld {
  readonly agent: Agents;
  readonly userAgent: string;
  readonly targets: UploadTargets;
  /** The key for an origin that was named as one that may see it, else null. */
  keyFor(origin: string): string | null;
}

const defaultFinalizeMs = 600_000;

/** How long a server may take to say `100 Continue` before the body goes out without it (RFC 9110 10.1.1 asks for a limit). */
const continueMs = 1000;

/**
 * Sends one file to its upload address by PUT, from one descriptor, exactly as many bytes as were accepted.
 *
 * @throws {UploadRejectedError} no file may be sent to the address (upload-targets.ts), or it refuses the file
 * @throws {FileVanishedError | FileChangedError | FileUnreadableError} before the last part left: the other side has no complete body
 * @throws {AddressDeadError | UploadConflictError | UploadServerError | RedirectError} by the answer
 * @throws {UploadStalledError | ConnectionError | RequestTimeoutError} no answer
 * @throws {AbortedError} the signal
 * @throws whatever `beforeLastPart` rejects with
 */
export async function uploadFile(options: UploadOptions, world: UploadWorld): Promise<Uploaded> {
  throwIfAborted(options.signal, 'the upload');
  const target = await world.targets.admit(options.url);
  await using file = await openChecked(options.root, options.path, options.expected);
  return await sendTo(target, file, { ...options, name: options.path }, world);
}

/**
 * Sends a source to an upload address by PUT, exactly as many bytes as it says that it has.
 * @throws as `uploadFile`, and what the source throws
 */
export async function sendBody(file: BodySource, options: SendOptions, world: UploadWorld): Promise<Uploaded> {
  throwIfAborted(options.signal, 'the upload');
  return await sendTo(await world.targets.admit(options.url), file, options, world);
}

async function sendTo(
  target: UploadTarget,
  file: BodySource,
  options: SendOptions,
  world: UploadWorld,
): Promise<Uploaded> {
  throwIfAborted(options.signal, 'the upload');
  const expecting = file.size > 0;
  let { answer, sha256 } = await send(file, target, expecting, options, world);
  if (answer.status === 417 && expecting) ({ answer, sha256 } = await send(file, target, false, options, world));
  if (!isSuccess(answer.status)) throw uploadError(answer, scrubFor(options.url, world, target.url), Date.now());
  if (sha256 === null) {
    throw new UploadServerError(`the upload address answered ${answer.status} before it had the whole file`, {
      status: answer.status,
      code: 'early_answer',
    });
  }
  return { sha256, bytes: file.size };
}

/** One PUT. The body is held until the server says `100 Continue`, so that a refusal costs no bytes and is never lost to EPIPE. */
async function send(
  file: BodySource,
  target: UploadTarget,
  expecting: boolean,
  options: SendOptions,
  world: UploadWorld,
): Promise<{ answer: Answer; sha256: string | null }> {
  const { url } = target;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const stall = new StallWatch(url.origin, () => stop.abort());
  const line = new Line();
  const body = new UploadBody({
    file,
    signal,
    bandwidth: options.bandwidth,
    beforeLastPart: (sha256) => options.beforeLastPart(sha256),
    onHold: (isHeld) => (isHeld ? stall.pause() : stall.sending(options.stallTimeoutMs)),
    onProgress: (sentBytes) => {
      options.onProgress?.(sentBytes);
      if (sentBytes < file.size) stall.sending(options.stallTimeoutMs);
      else stall.finishing(options.finalizeTimeoutMs ?? defaultFinalizeMs);
    },
  });
  try {
    if (file.size === 0) await body.releaseEmpty();
    stall.sending(options.stallTimeoutMs);
    const answer = await exchange({
      what: 'the upload',
      method: 'PUT',
      url,
      headers: headersFor(file, url, expecting, options, world),
      body,
      agent: world.agent,
      lookup: target.lookup,
      line,
      signal,
      onRequest: (request) => {
        void (expecting ? untilContinue(request, line, signal) : line.up).then(() => body.start());
        request.once('response', () => body.noteAnswer());
        request.flushHeaders();
      },
    });
    options.onAnswer?.(answer);
    return { answer, sha256: body.sha256 };
  } catch (error) {
    if (options.signal.aborted) throw new AbortedError('the upload');
    throw target.refusal() ?? stall.error ?? body.failure ?? error;
  } finally {
    stall.pause();
    stop.abort();
    await body.settled();
  }
}

async function untilContinue(request: ClientRequest, line: Line, signal: AbortSignal): Promise<void> {
  const continued = new Promise<void>((resolve) => request.once('continue', resolve));
  const silence = line.up.then(() => sleep(continueMs, undefined, { signal })).catch(() => {});
  await Promise.race([continued, silence]);
}

function headersFor(file: BodySource, target: URL, expecting: boolean, options: SendOptions, world: UploadWorld) {
  const key = world.keyFor(target.origin);
  return {
    'content-length': String(file.size),
    'content-type': contentTypeOf(options.name),
    'user-agent': world.userAgent,
    ...(expecting && { expect: '100-continue' }),
    ...(key !== null && { authorization: `Bearer ${key}` }),
  };
}

function scrubFor(address: string, world: UploadWorld, target: URL) {
  return createScrub([...secretsOfAddress(address), world.keyFor(target.origin) ?? '']);
}

/** Fires when bytes stop to leave, or when the answer to a whole body does not come. */
class StallWatch {
  readonly #origin: string;
  readonly #onStall: () => void;
  #timer: NodeJS.Timeout | undefined;
  #error: UploadStalledError | null = null;

  constructor(origin: string, onStall: () => void) {
    this.#origin = origin;
    this.#onStall = onStall;
  }

  get error(): UploadStalledError | null {
    return this.#error;
  }

  sending(ms: number): void {
    this.#arm(ms, 'upload_stalled', `the upload to ${this.#origin} did not move for ${seconds(ms)}`);
  }

  finishing(ms: number): void {
    this.#arm(ms, 'no_answer', `${this.#origin} took the whole file but did not answer for ${seconds(ms)}`);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }

  #arm(ms: number, code: string, message: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#error = new UploadStalledError(message, { code });
      this.#onStall();
    }, ms);
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
