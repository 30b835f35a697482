import type { ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agents } from 'got';

import type { Answer } from '../transport/answer.ts';
import type { Bandwidth } from './bandwidth.ts';
import type { FilePass } from './file-pass.ts';
import { Line, StaleConnectionError } from '../transport/connection.ts';
import { AbortedError, throwIfAborted, UploadServerError } from '../errors.ts';
import { exchange } from '../transport/exchange.ts';
import type { SeenExchange } from '../transport/exchange.ts';
import { StallWatch } from './stall-watch.ts';
import { UploadBody } from './upload-body.ts';
import type { UploadTarget, UploadTargets } from './upload-targets.ts';

/** One request to an upload address: bytes of a file, or a question about them. */
export interface UploadRequest {
  readonly method: 'PUT' | 'PATCH' | 'HEAD';
  /** The signed upload address, which grants access to anyone who has it. Never shown. */
  readonly url: string;
  /** Headers other than connection headers and the key, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes to send; null for a question. */
  readonly body: {
    readonly pass: FilePass;
    /** Position in the file at which the body ends; it begins at the position of the pass. */
    readonly end: number;
  } | null;
  readonly signal: AbortSignal;
  /** Longest time without progress, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** Longest time from the last byte to the response, in milliseconds; default 10 minutes. */
  readonly answerTimeoutMs?: number | undefined;
  /** Called before the bytes up to this position of the file leave; awaited unless null. */
  readonly beforeBytes?: (upTo: number) => Promise<void> | null;
  /** Called with the position in the file up to which the kernel has accepted the bytes. */
  readonly onProgress?: (sentBytes: number) => void;
}

/** The parts of the client that an upload uses. */
export interface UploadWorld {
  /** For requests whose body waits for `100 Continue`, and for questions: a stale connection costs nothing. */
  readonly kept: Agents;
  readonly fresh: Agents;
  readonly userAgent: string;
  readonly bandwidth?: Bandwidth | undefined;
  readonly targets: UploadTargets;
  /** Origins that answered 417: later uploads to them omit `Expect`. */
  readonly refusesExpect: Set<string>;
  readonly onExchange?: ((exchange: SeenExchange) => void) | undefined;
  /** Returns the key for an origin that may receive it, otherwise null. */
  keyFor(origin: string): string | null;
}

const defaultAnswerTimeoutMs = 600_000;

/**
 * How long to wait for `100 Continue` before sending the body without it (RFC 9110 section 10.1.1 requires a limit).
 */
const continueMs = 1000;

/**
 * Sends one request to an upload address and returns its response, whatever the status. Never redirected, and sent
 * again only while none of the body was read: on a fresh connection if the server had closed a kept one, and without
 * `Expect` if the server refuses it with 417 (RFC 9110 section 10.1.1).
 *
 * @throws {UploadRejectedError} the address is not allowed (upload-targets.ts)
 * @throws {FileVanishedError | FileChangedError | FileUnreadableError} thrown by the reader before the last part was
 *   sent, so the other side has no complete body
 * @throws {UploadServerError} the host refused `Expect` after it was sent a part of the file
 * @throws {UploadStalledError | ConnectionError | RequestTimeoutError} no response
 * @throws {UnreadableAnswerError} the response is too long
 * @throws {AbortedError} the signal fired
 * @throws any error of the reader, `beforeBytes` or `beforeLastPart`
 */
export async function requestUpload(request: UploadRequest, world: UploadWorld): Promise<Answer> {
  throwIfAborted(request.signal, 'the upload');
  const target = await world.targets.admit(request.url);
  throwIfAborted(request.signal, 'the upload');
  const { origin } = target.url;
  const plainly = async (): Promise<Answer> => (await send(request, target, false, world)).answer;
  if (request.body === null) return (await send(request, target, false, world, world.kept)).answer;
  if (lengthOf(request) === 0 || world.refusesExpect.has(origin)) return plainly();
  const { answer, body } = await send(request, target, true, world, world.kept);
  if (answer.status !== 417) return answer;
  world.refusesExpect.add(origin);
  if (body?.hasBegun !== true) return plainly();
  // The host may have received the whole file before it answered; only the video's status is conclusive.
  throw new UploadServerError(`${origin} refused the header Expect after it was sent a part of the file`, {
    status: 417,
    code: 'expectation_failed',
  });
}

interface Sent {
  readonly answer: Answer;
  /** The settled body; null for a question. */
  readonly body: UploadBody | null;
}

/**
 * Sends one request. The body waits for `100 Continue`, so that a refusal costs no bytes and is never lost to EPIPE.
 *
 * @param agent `world.kept` repeats the request on a fresh connection if the server had closed the kept one
 */
async function send(
  request: UploadRequest,
  target: UploadTarget,
  expecting: boolean,
  world: UploadWorld,
  agent = world.fresh,
): Promise<Sent> {
  const { url } = target;
  const { method, stallTimeoutMs, answerTimeoutMs = defaultAnswerTimeoutMs } = request;
  const length = lengthOf(request);
  const stop = new AbortController();
  const signal = AbortSignal.any([request.signal, stop.signal]);
  using stall = new StallWatch(url.origin, () => stop.abort());
  const line = new Line();
  const body = bodyOf(request, { signal, stall, world });
  try {
    if (length > 0) stall.sending(stallTimeoutMs);
    else {
      // The headers are the whole request.
      await body?.releaseEmpty();
      stall.awaitingAnswer(Math.min(stallTimeoutMs, answerTimeoutMs));
    }
    const answer = await exchange({
      what: 'the upload',
      method,
      url,
      headers: headersFor(request, length, url, world),
      expects: expecting,
      ...(body !== null && { body }),
      agent,
      lookup: target.lookup,
      line,
      signal,
      onExchange: world.onExchange,
      onSocket: (sent) => {
        const isAsking = expecting && !line.isMocked;
        void (isAsking ? untilContinue(sent, line, signal) : line.up).then(() => body?.start());
        sent.once('response', () => body?.noteAnswer());
        sent.flushHeaders();
      },
    });
    return { answer, body };
  } catch (error) {
    if (request.signal.aborted) throw new AbortedError('the upload', request.signal);
    const failure = target.refusal() ?? stall.error ?? body?.failure ?? error;
    const isRepeatable = failure instanceof StaleConnectionError && agent === world.kept && body?.hasBegun !== true;
    if (!isRepeatable) throw failure;
  } finally {
    stop.abort();
    await body?.settled();
  }
  return send(request, target, expecting, world);
}

function bodyOf(
  { body, beforeBytes, onProgress, stallTimeoutMs, answerTimeoutMs = defaultAnswerTimeoutMs }: UploadRequest,
  { signal, stall, world }: { readonly signal: AbortSignal; readonly stall: StallWatch; readonly world: UploadWorld },
): UploadBody | null {
  if (body === null) return null;
  return new UploadBody({
    ...body,
    signal,
    bandwidth: world.bandwidth,
    beforeBytes: (upTo) => beforeBytes?.(upTo) ?? null,
    onHold: (isHeld) => (isHeld ? stall.pause() : stall.sending(stallTimeoutMs)),
    onProgress: async (sentBytes) => {
      const told: unknown = onProgress?.(sentBytes);
      await told;
      if (sentBytes < body.end) stall.sending(stallTimeoutMs);
      else stall.awaitingAnswer(answerTimeoutMs);
    },
  });
}

/** Returns the number of bytes in the body. */
function lengthOf({ body }: UploadRequest): number {
  return body === null ? 0 : body.end - body.pass.position;
}

async function untilContinue(request: ClientRequest, line: Line, signal: AbortSignal): Promise<void> {
  const continued = new Promise<void>((resolve) => request.once('continue', resolve));
  const silence = line.up.then(() => sleep(continueMs, undefined, { signal })).catch(() => {});
  await Promise.race([continued, silence]);
}

function headersFor(
  { method, headers }: UploadRequest,
  length: number,
  target: URL,
  world: UploadWorld,
): Readonly<Record<string, string>> {
  const key = world.keyFor(target.origin);
  return {
    'user-agent': world.userAgent,
    ...(key !== null && { authorization: `Bearer ${key}` }),
    ...headers,
    ...(method !== 'HEAD' && { 'content-length': String(length) }),
  };
}
