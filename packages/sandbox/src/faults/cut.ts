import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';

/** Cuts the connection with a reset, as a crashed host or a middlebox does. Below TLS there is no reset to be had: it just ends. */
export function reset({ socket }: IncomingMessage): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Resolves when the connection, or the answer with it, has ended: after the client's patience, or the sandbox's end. */
export async function untilClosed(response: ServerResponse): Promise<void> {
  if (response.destroyed || response.closed) return;
  await new Promise<void>((resolve) => response.once('close', resolve));
}

/** Waits on the real time, which is the client's. Ends early when the client goes. @returns whether the client is still there */
export async function pause(response: ServerResponse, ms: number): Promise<boolean> {
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
