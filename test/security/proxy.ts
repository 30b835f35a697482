import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

import { listen } from '../support/server.ts';

/**
 * An HTTP proxy that tunnels everything to one port of this machine, and keeps what it sees go by.
 *
 * @param login `NAME:PASSWORD` without which it opens no tunnel (RFC 7617)
 */
export async function startProxy(targetPort: number, { login, port }: { login?: string; port?: number } = {}) {
  const asked: string[] = [];
  const passed: Buffer[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.end('{"data":[]}');
  });
  server.on('connect', (request, socket: Socket, head) => {
    asked.push(`CONNECT ${request.url}`);
    if (login !== undefined && request.headers['proxy-authorization'] !== `Basic ${btoa(login)}`) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="p"\r\n\r\n');
      return;
    }
    const target = connect(targetPort, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    for (const end of [socket, target]) end.on('error', () => {}).on('data', (part: Buffer) => passed.push(part));
    target.write(head);
    socket.pipe(target).pipe(socket);
    socket.on('close', () => target.destroy());
  });
  return { ...(await listen(server, 'http', port)), asked, passed };
}
