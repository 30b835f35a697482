import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiError } from './api-error.ts';

/** One request and its answer as plain Node objects. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client is waiting for 100 Continue before it sends its body (RFC 9110 section 10.1.1). */
  readonly awaitsContinue: boolean;
}

/** Answers without waiting for the request's body. */
export function refuseEarly(exchange: Exchange, refusal: ApiError): void {
  const { status, body, headers } = refusal;
  answerEarly(exchange, { status, body, headers: { 'Content-Type': 'application/json', ...headers } });
}

export interface EarlyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function answerEarly({ response, awaitsContinue }: Exchange, answer: EarlyAnswer): void {
  // A client that is waiting for 100 Continue may or may not send its body now, so the connection cannot be reused.
  const connection = awaitsContinue ? { Connection: 'close' } : {};
  answerJson(response, answer.status, answer.body, { ...answer.headers, ...connection });
}

/**
 * Closes the connection of a request that was answered before its whole body was read; the rest may never arrive.
 *
 * Closing a socket with unread bytes sends a reset, which can destroy the answer on its way to the client (RFC 9112
 * section 9.6). So incoming bytes are discarded for a while before the connection is closed.
 */
export function lingerThenCut(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  const timer = setTimeout(() => request.destroy(), LINGER_MS).unref();
  request.once('close', () => clearTimeout(timer));
}

const LINGER_MS = 2000;

/** Writes a JSON answer to a plain Node response. */
export function answerJson(response: ServerResponse, status: number, body: string, headers: Headers = {}): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length, ...headers });
  response.end(body);
}

export function answerRefusal(response: ServerResponse, refusal: ApiError, headers: Headers = {}): void {
  answerJson(response, refusal.status, refusal.body, { ...refusal.headers, ...headers });
}

type Headers = Readonly<Record<string, string>>;
