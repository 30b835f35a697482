import type { Exchange } from '../http/exchange.ts';
import type { BodyValve } from './body-valve.ts';
import { reset } from './cut.ts';
import type { FaultOf } from './fault-rule.ts';

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
