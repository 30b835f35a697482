import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { BodyCapture, type CapturedBody } from './body-capture.ts';
import { answerHeaders } from './forward.ts';

/** What came of a request that was sent on. */
export interface Passed {
  readonly request: CapturedBody;
  readonly answer?: {
    readonly status: number;
    readonly headers: IncomingMessage['headers'];
    readonly body: CapturedBody;
  };
  /** Why there is no whole answer. */
  readonly broken?: string;
}

export interface PassOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The program sends its body only after 100 Continue. */
  readonly awaitsContinue: boolean;
  readonly upstream: ClientRequest;
  /** Changes the text of a JSON answer for the program. */
  rewrite(text: string): string;
}

/** JSON answers up to this many bytes are held until they are whole, so that addresses in them can be replaced. */
const longestHeld = 4 * 1024 * 1024;

/**
 * Passes a request on to the service and its answer back, whole or broken, as fast as the slower side takes it. A connection that breaks on
 * one side is broken on the other. Never rejects.
 */
export async function passOn({ request, response, awaitsContinue, upstream, rewrite }: PassOptions): Promise<Passed> {
  const sent = new BodyCapture();
  const stop = new AbortController();
  const giveUp = (): void => stop.abort();
  response.once('close', giveUp);
  const answered = once(upstream, 'response', { signal: stop.signal }) as Promise<[IncomingMessage]>;
  if (awaitsContinue) upstream.once('continue', () => response.writeContinue());
  else upstream.flushHeaders();
  sent.watch(request);
  // The service may answer before it has the whole body; the answer counts then.
  const sending = pipeline(request, upstream, { signal: stop.signal }).catch(() => {});
  let answer: Passed['answer'];
  try {
    const [incoming] = await answered;
    const body = new BodyCapture();
    answer = { status: incoming.statusCode ?? 0, headers: incoming.headers, body: body.end() };
    const whole = await answerWith(incoming, { response, rewrite, signal: stop.signal });
    answer = { ...answer, body: whole };
    response.off('close', giveUp);
    await Promise.race([sending, once(response, 'close')]);
    return { request: sent.end(), answer };
  } catch (error) {
    const broken = stop.signal.aborted ? 'the program closed the connection' : reasonOf(error);
    upstream.destroy();
    if (!response.headersSent && isUnreachable(error)) refuse(response, broken);
    else response.destroy();
    return { request: sent.end(), ...(answer !== undefined && { answer }), broken };
  }
}

interface AnswerOptions {
  readonly response: ServerResponse;
  readonly rewrite: (text: string) => string;
  readonly signal: AbortSignal;
}

async function answerWith(
  incoming: IncomingMessage,
  { response, rewrite, signal }: AnswerOptions,
): Promise<CapturedBody> {
  const capture = new BodyCapture();
  const isJson = /\bjson\b/i.test(incoming.headers['content-type'] ?? '');
  const isShort = Number(incoming.headers['content-length'] ?? 0) <= longestHeld;
  const head = answerHeaders(incoming);
  if (!isJson || !isShort) {
    capture.watch(incoming);
    response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, head);
    await pipeline(incoming, response, { signal });
    return capture.end();
  }
  const text = rewrite(await textOf(incoming));
  capture.note(Buffer.from(text));
  response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, withLength(head, Buffer.byteLength(text)));
  response.end(text);
  return capture.end();
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > longestHeld) throw new Error('its JSON answer is longer than 4 MiB');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The length of a text that was changed. One that was chunked gets a length, too. */
function withLength(head: readonly string[], length: number): string[] {
  const others = head.flatMap((text, index) =>
    index % 2 === 0 && text.toLowerCase() !== 'content-length' ? [text, head[index + 1] ?? ''] : [],
  );
  return [...others, 'Content-Length', String(length)];
}

/** The request cannot have reached the service. */
function isUnreachable(error: unknown): boolean {
  const code = codeOf(error);
  return (
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code) ||
    /CERT|TLS|SSL/.test(code)
  );
}

function refuse(response: ServerResponse, reason: string): void {
  const message = `The recorder cannot reach the service: ${reason}.`;
  const body = JSON.stringify({ error: { code: 'bad_gateway', message } });
  response.writeHead(502, { 'Content-Type': 'application/json', Connection: 'close' }).end(body);
}

function reasonOf(error: unknown): string {
  return codeOf(error) || (error instanceof Error ? error.message : 'unknown');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
