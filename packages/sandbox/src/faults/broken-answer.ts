import type { Exchange } from '../http/exchange.ts';
import { pause, reset, untilClosed } from './cut.ts';
import type { FaultOf } from './fault-rule.ts';
import { sendAnswer, type HeldAnswer } from './held-answer.ts';

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
