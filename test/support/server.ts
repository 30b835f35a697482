import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';

/** A listening server. Leaving its block destroys its connections and closes it. */
export interface RunningServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, or https. */
  readonly origin: string;
  readonly port: number;
  /** Open connections, for tests that count or cut them. */
  readonly sockets: ReadonlySet<Socket>;
}

export interface ServerOptions {
  /** Key and certificate make it an HTTPS server. */
  readonly tls?: Pick<TlsOptions, 'key' | 'cert'>;
}

/** Serves HTTP, or HTTPS with `tls`, on a free port of 127.0.0.1. */
export async function startServer(handler: RequestListener, { tls }: ServerOptions = {}): Promise<RunningServer> {
  if (tls === undefined) return listen(createServer(handler));
  return listen(createTlsServer(tls, handler), 'https');
}

/**
 * Makes any server (of `node:net`, or one with special settings) listen on 127.0.0.1.
 *
 * @param port any free one by default
 */
export async function listen(server: Server, scheme: 'http' | 'https' = 'http', port = 0): Promise<RunningServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // A reset by the other side is what many tests are about.
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    origin: `${scheme}://127.0.0.1:${address.port}`,
    port: address.port,
    sockets,
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
