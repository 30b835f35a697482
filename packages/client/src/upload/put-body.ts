import type { ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agents } from 'got';

import { isSuccess, startsLikePage, uploadError } from '../transport/answer.ts';
import type { Answer } from '../transport/answer.ts';
import type { Bandwidth } from './bandwidth.ts';
import type { BeginHash } from './begin-hash.ts';
import type { BodyReader } from './body-reader.ts';
import { Line } from '../transport/connection.ts';
import { AbortedError, throwIfAborted, UnreadableAnswerError, UploadServerError } from '../errors.ts';
import { exchange } from '../transport/exchange.ts';
import type { SeenExchange } from '../transport/exchange.ts';
import { createScrub, secretsOfAddress, secretsOfHeaders } from '../transport/scrub.ts';
import { StallWatch } from './stall-watch.ts';
import { UploadBody } from './upload-body.ts';
import type { UploadTarget, UploadTargets } from './upload-targets.ts';

/** The content of one PUT. */
export interface Body {
  readonly reader: BodyReader;
  readonly sizeBytes: number;
}

export interface PutOptions {
  /** The signed upload address, which grants access by itself. Never shown. */
  readonly url: string;
  /** Headers other than connection headers and the key, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Longest time without progress, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** Longest time from the last byte to the response, in milliseconds; default 10 minutes. */
  readonly answerTimeoutMs?: number | undefined;
  readonly onProgress?: (sentBytes: number) => void;
  /** The last part is sent only after this resolves. */
  beforeLastPart(sha256: string): Promise<void>;
  /** Called with every response from the upload address, whatever its status. */
  readonly onAnswer?: (answer: Answer) => void;
}

export interface Uploaded {
  /** Hash of the bytes sent, hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** What the client provides for an upload. */
export interface UploadWorld {
  readonly agent: Agents;
  readonly userAgent: string;
  readonly bandwidth?: Bandwidth | undefined;
  /** Starts hashing a file; default: `beginHash`. */
  readonly beginHash?: BeginHash | undefined;
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
 * Sends a body of exactly `sizeBytes` bytes to its upload address with one PUT. Never retried and never redirected,
 * with one exception that RFC 9110 asks for: a server that refuses `Expect` with 417 before any of the body was sent
 * gets the same request without it.
 *
 * @throws {UploadRejectedError} the address is not allowed (upload-targets.ts), or refused the file
 * @throws {FileVanishedError | FileChangedError | FileUnreadableError} thrown by the reader before the last part was
 *   sent, so the other side has no complete body
 * @throws {AddressDeadError | UploadConflictError | UploadServerError | RedirectError} by the response's status
 * @throws {UnreadableAnswerError} a success response is a web page, perhaps from a login portal or proxy instead of the
 *   host
 * @throws {UploadStalledError | ConnectionError | RequestTimeoutError} no response
 * @throws {AbortedError} the signal fired
 * @throws any error of the reader or `beforeLastPart`
 */
export async function putBody(body: Body, options: PutOptions, world: UploadWorld): Promise<Uploaded> {
  throwIfAborted(options.signal, 'the upload');
  const target = await world.targets.admit(options.url);
  throwIfAborted(options.signal, 'the upload');
  const { answer, sha256 } = await sendAsAccepted(body, target, options, world);
  if (!isSuccess(answer.status)) throw uploadError(answer, scrubFor(options, world, target.url), Date.now());
  if (startsLikePage(answer.body)) {
    throw new UnreadableAnswerError(
      `${target.url.origin} answered ${answer.status} to the upload, but with a web page, as proxies and login portals send`,
      { status: answer.status, code: 'web_page' },
    );
  }
  if (sha256 === null) {
    throw new UploadServerError(`the upload address answered ${answer.status} before it had the whole file`, {
      status: answer.status,
      code: 'early_answer',
    });
  }
  return { sha256, bytes: body.sizeBytes };
}

interface Sent {
  readonly answer: Answer;
  /** Hash of the body; null if its last part was never sent. */
  readonly sha256: string | null;
  /** Whether any of the body was sent. */
  readonly hasBegun: boolean;
}

async function sendAsAccepted(
  body: Body,
  target: UploadTarget,
  options: PutOptions,
  world: UploadWorld,
): Promise<Sent> {
  const { origin } = target.url;
  if (body.sizeBytes === 0 || world.refusesExpect.has(origin)) return send(body, target, false, options, world);
  const sent = await send(body, target, true, options, world);
  if (sent.answer.status !== 417) return sent;
  world.refusesExpect.add(origin);
  if (!sent.hasBegun) return send(body, target, false, options, world);
  // The host may have received the whole file before it answered; only the video's status is conclusive.
  throw new UploadServerError(`${origin} refused the header Expect after it was sent a part of the file`, {
    status: 417,
    code: 'expectation_failed',
  });
}

/** Sends one PUT. The body waits for `100 Continue`, so that a refusal costs no bytes and is never lost to EPIPE. */
async function send(
  { reader, sizeBytes }: Body,
  target: UploadTarget,
  expecting: boolean,
  options: PutOptions,
  world: UploadWorld,
): Promise<Sent> {
  const { url } = target;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  using stall = new StallWatch(url.origin, () => stop.abort());
  const { stallTimeoutMs, answerTimeoutMs = defaultAnswerTimeoutMs } = options;
  const line = new Line();
  const body = new UploadBody({
    reader,
    sizeBytes,
    signal,
    bandwidth: world.bandwidth,
    beginHash: world.beginHash,
    beforeLastPart: (sha256) => options.beforeLastPart(sha256),
    onHold: (isHeld) => (isHeld ? stall.pause() : stall.sending(stallTimeoutMs)),
    onProgress: async (sentBytes) => {
      const told: unknown = options.onProgress?.(sentBytes);
      await told;
      if (sentBytes < sizeBytes) stall.sending(stallTimeoutMs);
      else stall.awaitingAnswer(answerTimeoutMs);
    },
  });
  try {
    if (sizeBytes === 0) await body.releaseEmpty();
    if (sizeBytes > 0) stall.sending(stallTimeoutMs);
    // An empty file's headers are the whole request.
    else stall.awaitingAnswer(Math.min(stallTimeoutMs, answerTimeoutMs));
    const answer = await exchange({
      what: 'the upload',
      method: 'PUT',
      url,
      headers: headersFor(sizeBytes, url, expecting, options, world),
      body,
      agent: world.agent,
      lookup: target.lookup,
      line,
      signal,
      onExchange: world.onExchange,
      onRequest: (request) => {
        void (expecting ? untilContinue(request, line, signal) : line.up).then(() => body.start());
        request.once('response', () => body.noteAnswer());
        request.flushHeaders();
      },
    });
    options.onAnswer?.(answer);
    return { answer, sha256: body.sha256, hasBegun: body.hasBegun };
  } catch (error) {
    if (options.signal.aborted) throw new AbortedError('the upload', options.signal);
    throw target.refusal() ?? stall.error ?? body.failure ?? error;
  } finally {
    stop.abort();
    await body.settled();
  }
}

async function untilContinue(request: ClientRequest, line: Line, signal: AbortSignal): Promise<void> {
  const continued = new Promise<void>((resolve) => request.once('continue', resolve));
  const silence = line.up.then(() => sleep(continueMs, undefined, { signal })).catch(() => {});
  await Promise.race([continued, silence]);
}

function headersFor(sizeBytes: number, target: URL, expecting: boolean, options: PutOptions, world: UploadWorld) {
  const key = world.keyFor(target.origin);
  return {
    'user-agent': world.userAgent,
    ...(key !== null && { authorization: `Bearer ${key}` }),
    ...options.headers,
    'content-length': String(sizeBytes),
    ...(expecting && { expect: '100-continue' }),
  };
}

function scrubFor({ url, headers }: PutOptions, world: UploadWorld, target: URL) {
  return createScrub([...secretsOfAddress(url), ...secretsOfHeaders(headers), world.keyFor(target.origin) ?? '']);
}
