import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Exchange } from '../http/exchange.ts';
import type { FaultOf } from './fault-rule.ts';
import { sendAnswer, type HeldAnswer } from './held-answer.ts';
import type { BodyValve } from './body-valve.ts';

/** Sends the response `ms` after the request was carried out. */
export async function sendLate({ request, response }: Exchange, answer: HeldAnswer, ms: number): Promise<void> {
  request.socket.setTimeout(0); // it is slow, not silent
  if (await pause(response, ms)) sendAnswer(response, answer);
}

/** Closes the connection without a response, after the request was carried out. */
export function loseAnswer({ request }: Exchange): void {
  request.socket.destroy();
}

/**
 * Sends the response's headers and `after_bytes` of its body, then stalls or resets the connection. A reset may discard
 * what the client has not yet read.
 */
export async function answerPartly(
  { request, response }: Exchange,
  { status, headers, body }: HeldAnswer,
  { kind, after_bytes: afterBytes }: FaultOf<'stall' | 'reset'>,
): Promise<void> {
  request.socket.setTimeout(0); // until the client times out, not the sandbox
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.flushHeaders();
  const part = body.subarray(0, afterBytes);
  if (part.length > 0) await new Promise<void>((resolve) => response.write(part, () => resolve()));
  if (kind === 'reset') reset(request);
  else await untilClosed(response);
}

/** Reads the body at this rate. The operating system buffers some more data. */
export function slowRead({ request }: Exchange, valve: BodyValve, bytesPerSecond: number): void {
  request.socket.setTimeout(0); // it is slow, not silent
  const atOnce = Math.max(1, Math.round((bytesPerSecond * SLICE_MS) / 1000));
  // Rates below one byte per slice need longer slices.
  const sliceMs = Math.max(SLICE_MS, 1000 / bytesPerSecond);
  // Waits until the allowance is spent, so that a client that paused does not catch up afterwards.
  const timer = setInterval(() => valve.isSpent && valve.allow(atOnce), sliceMs);
  request.once('close', () => clearInterval(timer));
  valve.allow(atOnce);
}

const SLICE_MS = 20;

/** Stops reading after `after_bytes`, so the response waits for the rest. Shorter bodies are not affected. */
export function stallBody(
  { request }: Exchange,
  valve: BodyValve,
  { after_bytes: afterBytes }: FaultOf<'stall'>,
): void {
  request.socket.setTimeout(0); // until the client times out, not the sandbox
  valve.allow(afterBytes);
}

/** Resets the connection after `after_bytes`, at least one. Shorter bodies are not affected. */
export function resetBody(
  { request }: Exchange,
  valve: BodyValve,
  { after_bytes: afterBytes }: FaultOf<'reset'>,
): void {
  valve.onSpent = () => reset(request);
  valve.allow(afterBytes);
}

/**
 * Resets the connection, as a crashed host or a middlebox does. Node cannot reset a TLS connection, so that is simply
 * closed.
 */
export function reset({ socket }: IncomingMessage): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Resolves when the connection closes, because the client gave up or the sandbox is stopping. */
async function untilClosed(response: ServerResponse): Promise<void> {
  if (response.destroyed || response.closed) return;
  await new Promise<void>((resolve) => response.once('close', resolve));
}

/** Waits in real time, but no longer than the client stays connected. @returns whether it is still connected */
async function pause(response: ServerResponse, ms: number): Promise<boolean> {
  if (response.destroyed) return false;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return !response.destroyed;
}
