import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { answerEarly, lingerThenCut } from '@dropcast/sandbox/http/exchange';
import { BodyCapture, type CapturedBody, mostHeld } from './body-capture.ts';
import { answerHeaders } from './forward.ts';

/** The result of a forwarded request. */
export interface Passed {
  readonly request: CapturedBody;
  readonly answer?: {
    readonly status: number;
    readonly headers: IncomingMessage['headersDistinct'];
    readonly body: CapturedBody;
  };
  /** Statuses of the interim answers. */
  readonly interim: readonly number[];
  /** Why the answer is incomplete. */
  readonly broken?: string;
}

interface PassOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the program sends its body only after 100 Continue. */
  readonly awaitsContinue: boolean;
  readonly upstream: ClientRequest;
  /** Rewrites an answer that may contain addresses. */
  rewrite(body: Buffer): Buffer;
  /** Breaks both connections when it aborts; its reason is a sentence. */
  readonly stop: AbortSignal;
}

/**
 * Passes a request on to the service and the answer back, complete or broken, at the pace of the slower side. If one
 * side's connection breaks, the other side's is broken too. Never rejects.
 */
export async function passOn({ stop, ...options }: PassOptions): Promise<Passed> {
  const { request, response, upstream } = options;
  const sent = new BodyCapture();
  const received = new BodyCapture();
  const interim: number[] = [];
  upstream.on('information', ({ statusCode }) => interim.push(statusCode));
  let incoming: IncomingMessage | undefined;
  let reason: string | undefined;
  let isAnswered = false;
  const breakUp = (why: string): void => {
    if (!isAnswered) reason ??= why;
    upstream.destroy();
  };
  const stopped = (): void => breakUp(String(stop.reason));
  stop.addEventListener('abort', stopped, { once: true });
  response.once('close', () => response.writableFinished || breakUp('the program closed the connection'));
  try {
    const arriving = answerOf(upstream);
    send(options, sent);
    if (stop.aborted) stopped();
    incoming = await arriving;
    await answer(incoming, options, received);
    isAnswered = true;
  } catch (error) {
    reason ??= reasonOf(error);
    if (!response.headersSent && isUnreachable(error)) refuse(options, inWords(reason));
    else response.destroy();
  }
  await bodyPassed(request, upstream);
  stop.removeEventListener('abort', stopped);
  lingerThenCut(request);
  return {
    request: sent.end(),
    interim,
    ...(incoming && {
      answer: { status: incoming.statusCode ?? 0, headers: incoming.headersDistinct, body: received.end() },
    }),
    ...(reason !== undefined && { broken: reason }),
  };
}

function answerOf(upstream: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    upstream.once('response', resolve);
    // A request may still fail after its answer has arrived; the answer then counts.
    upstream.on('error', reject);
    upstream.once('close', () => reject(new Error('the service closed the connection without an answer')));
  });
}

/**
 * Sends the body. If a service answers early and stops reading, the rest is discarded so that the program can finish
 * sending.
 */
function send({ request, response, awaitsContinue, upstream }: Omit<PassOptions, 'stop'>, sent: BodyCapture): void {
  if (awaitsContinue) upstream.once('continue', () => response.headersSent || response.writeContinue());
  else upstream.flushHeaders();
  const note = (chunk: Buffer): void => sent.note(chunk);
  request.on('data', note);
  request.pipe(upstream);
  // After the end of an answer, Node no longer reports room for the rest of the body.
  upstream.once('response', () => upstream.socket?.on('drain', () => upstream.emit('drain')));
  upstream.once('close', () => {
    request.off('data', note);
    request.unpipe(upstream);
    request.resume();
  });
}

async function answer(
  incoming: IncomingMessage,
  { request, response, rewrite }: Omit<PassOptions, 'stop'>,
  received: BodyCapture,
): Promise<void> {
  const begin = (length?: number): void =>
    void response.writeHead(incoming.statusCode ?? 0, incoming.statusMessage, answerHeaders(incoming, length));
  // Closing a socket with unread bytes would destroy the response in transit (RFC 9112 section 9.6).
  if (!request.complete) response.shouldKeepAlive = true;
  const isHeld = mayHaveAddresses(incoming);
  if (!isHeld) {
    begin();
    response.flushHeaders();
  }
  for await (const { bytes, length } of isHeld ? rewrittenPieces(incoming, rewrite) : piecesOf(incoming)) {
    if (!response.headersSent) begin(length);
    received.note(bytes);
    if (!response.write(bytes)) await drained(response);
  }
  if (!response.headersSent) begin();
  response.end();
  if (!response.writableFinished) await either(response, 'finish', 'close');
  if (!response.writableFinished) throw new Error('the program closed the connection');
}

async function drained(response: ServerResponse): Promise<void> {
  if (!response.destroyed && response.writableNeedDrain) await either(response, 'drain', 'close');
}

/** Waits for one of two events. */
async function either(response: ServerResponse, one: string, other: string): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(response, one, { signal }), once(response, other, { signal })]).finally(() =>
    waiting.abort(),
  );
}

/** Resolves when the service has received the whole body or accepts no more of it. */
function bodyPassed(request: IncomingMessage, upstream: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    if (request.readableEnded || request.destroyed || upstream.destroyed) return resolve();
    request.once('end', resolve);
    request.once('close', resolve);
    upstream.once('close', resolve);
  });
}

/** Whether the request cannot have reached the service. */
function isUnreachable(error: unknown): boolean {
  const code = codeOf(error);
  return (
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code) ||
    isOfTrust(code) ||
    /CERT|TLS|SSL/.test(code)
  );
}

/** Whether the certificate was not signed by a trusted authority. */
function isOfTrust(code: string): boolean {
  return /^UNABLE_TO_|SELF_SIGNED/.test(code);
}

function inWords(code: string): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `DNS has no address for its name (${code})`;
  if (isOfTrust(code)) return `its certificate is not trusted (${code}); name an additional one to trust with --ca`;
  return code;
}

function refuse(exchange: Omit<PassOptions, 'stop'>, reason: string): void {
  const error = { code: 'bad_gateway', message: `The recorder cannot reach the service: ${reason}.` };
  answerEarly(exchange, { status: 502, headers: {}, body: JSON.stringify({ error }) });
}

function reasonOf(error: unknown): string {
  return codeOf(error) || (error instanceof Error ? error.message : 'unknown');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

interface Piece {
  readonly bytes: Buffer;
  /** Length of the whole body, if the body was changed. */
  readonly length?: number;
}

/** Whether the body may contain addresses, that is, whether it is readable JSON, even without a JSON content type. */
function mayHaveAddresses({ headers }: IncomingMessage): boolean {
  const type = headers['content-type'] ?? 'text/plain';
  return /\bjson\b|^text\/plain\b/i.test(type) && /^(?:identity)?$/i.test(headers['content-encoding'] ?? '');
}

/** Yields the body as it arrives. @throws the error of a connection that breaks before the end */
async function* piecesOf(incoming: IncomingMessage): AsyncGenerator<Piece> {
  for await (const bytes of incoming as AsyncIterable<Buffer>) yield { bytes };
}

/**
 * Yields the changed body once it is complete. A body longer than `mostHeld` passes through unchanged.
 *
 * @throws the error of a connection that breaks before the end
 */
async function* rewrittenPieces(incoming: IncomingMessage, rewrite: (body: Buffer) => Buffer): AsyncGenerator<Piece> {
  const held: Buffer[] = [];
  let room = mostHeld;
  for await (const bytes of incoming as AsyncIterable<Buffer>) {
    held.push(bytes);
    room -= bytes.length;
    if (room < 0) yield { bytes: Buffer.concat(held.splice(0)) };
  }
  if (held.length === 0) return;
  const body = Buffer.concat(held);
  const changed = rewrite(body);
  yield changed === body ? { bytes: body } : { bytes: changed, length: changed.length };
}
