import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { listen } from '../../support/server.ts';

/** A way to a server that can be cut as a network is: nobody is refused, nothing arrives, and nobody is told. */
export interface SilentProxy extends AsyncDisposable {
  readonly port: number;
  cut(): void;
  /** What was sent meanwhile is lost: its connections break. */
  mend(): void;
}

/** @param target the port of the server, asked for each connection */
export async function startSilentProxy(target: () => number): Promise<SilentProxy> {
  let isCut = false;
  const far = new Set<Socket>();
  const server = createServer((near) => {
    const other = connect(target(), '127.0.0.1');
    far.add(other);
    other.on('close', () => far.delete(other));
    for (const [one, two] of [
      [near, other],
      [other, near],
    ] as const) {
      one.on('error', () => undefined);
      one.on('data', (part) => isCut || two.write(part));
      one.on('close', () => isCut || two.destroy());
    }
  });
  const { port, sockets, ...running } = await listen(server);
  const breakAll = (): void => [...sockets, ...far].forEach((socket) => socket.destroy());
  return {
    port,
    cut: () => (isCut = true),
    mend: () => {
      isCut = false;
      breakAll();
    },
    [Symbol.asyncDispose]: async () => {
      breakAll();
      await running[Symbol.asyncDispose]();
    },
  };
}
