import { STATUS_CODES } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ApiError } from './api-error.ts';

/**
 * Answers a client that speaks plain http to an https port, where Node would only drop the connection (api-spec section
 * 5, rule 5). assumed: 400. A redirect would teach clients to send the key in clear text first.
 */
export function refusePlainHttp(server: Server): void {
  const sockets = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    sockets.set(peer, socket);
    socket.once('close', () => sockets.delete(peer));
  });
  // Prepended, because Node's own listener destroys the connection.
  server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, encrypted: TLSSocket) => {
    if (error.code === 'ERR_SSL_HTTP_REQUEST') sockets.get(peerOf(encrypted))?.end(answer());
  });
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Builds the raw answer. There is no response object, because the bytes never reached the HTTP parser. */
function answer(): string {
  const { status, body } = new ApiError('bad_request', 'This port accepts https only.');
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json`;
  return `${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
