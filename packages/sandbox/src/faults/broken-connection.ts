import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Exchange } from '../http/exchange.ts';
import type { FaultOf } from './fault-rule.ts';
import { sendAnswer, type HeldAnswer } from './held-answer.ts';
import type { BodyValve } from './body-valve.ts';

/** What was asked for is done; nothing of its answer leaves for so long. */
export async function sendLate({ request, response }: Exchange, answer: HeldAnswer, ms: number): Promise<void> {
  request.socket.setTimeout(0); // it is slow, not silent
  if (await pause(response, ms)) sendAnswer(response, answer);
}

/** What was asked for is done, and the connection ends without a word. */
export function loseAnswer({ request }: Exchange): void {
  request.socket.destroy();
}

/** Head and so many bytes of the body leave; then nothing any more, or a reset (which may overtake what the client has not read). */
export async function answerPartly(
  { request, response }: Exchange,
  { status, headers, body }: HeldAnswer,
  { kind, after_bytes: afterBytes }: FaultOf<'stall' | 'reset'>,
): Promise<void> {
  request.socket.setTimeout(0); // until the client loses its patience, not the sandbox
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.flushHeaders();
  const part = body.subarray(0, afterBytes);
  if (part.length > 0) await new Promise<void>((resolve) => response.write(part, () => resolve()));
  if (kind === 'reset') reset(request);
  else await untilClosed(response);
}

/** The body is read at this rate. What lies in the buffers of the system between the two is on top of it. */
export function slowRead({ request }: Exchange, valve: BodyValve, bytesPerSecond: number): void {
  request.socket.setTimeout(0); // it is slow, not silent
  const atOnce = Math.max(1, Math.round((bytesPerSecond * SLICE_MS) / 1000));
  // A rate below one byte a slice is kept by longer slices.
  const sliceMs = Math.max(SLICE_MS, 1000 / bytesPerSecond);
  // Only when spent, so that a client that paused gets no faster afterwards.
  const timer = setInterval(() => valve.isSpent && valve.allow(atOnce), sliceMs);
  request.once('close', () => clearInterval(timer));
  valve.allow(atOnce);
}

const SLICE_MS = 20;

/** Nothing is read after so many bytes; the answer waits for the rest. A shorter body is not affected. */
export function stallBody(
  { request }: Exchange,
  valve: BodyValve,
  { after_bytes: afterBytes }: FaultOf<'stall'>,
): void {
  request.socket.setTimeout(0); // until the client loses its patience, not the sandbox
  valve.allow(afterBytes);
}

/** The connection is reset after so many bytes, at least one. A shorter body is not affected. */
export function resetBody(
  { request }: Exchange,
  valve: BodyValve,
  { after_bytes: afterBytes }: FaultOf<'reset'>,
): void {
  valve.onSpent = () => reset(request);
  valve.allow(afterBytes);
}

/** Cuts the connection with a reset, as a crashed host or a middlebox does. Below TLS there is no reset to be had: it just ends. */
export function reset({ socket }: IncomingMessage): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Resolves when the connection, or the answer with it, has ended: after the client's patience, or the sandbox's end. */
async function untilClosed(response: ServerResponse): Promise<void> {
  if (response.destroyed || response.closed) return;
  await new Promise<void>((resolve) => response.once('close', resolve));
}

/** Waits on the real time, which is the client's. Ends early when the client goes. @returns whether the client is still there */
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
