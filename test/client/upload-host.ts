import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A request as a real server saw it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  bytes: number;
  /** The whole body arrived. */
  isComplete: boolean;
}

export interface Host extends AsyncDisposable {
  readonly origin: string;
  readonly seen: Seen[];
  readonly sockets: Set<Socket>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, seen: Seen) => void;

export interface HostOptions {
  /** Answers instead of `100 Continue`; by default the client is told to go on. */
  readonly onExpect?: Handler;
}

/** A server on a free port of 127.0.0.1. The handler gets each request; counting its body is done here. */
export async function startHost(handler: Handler, { onExpect }: HostOptions = {}): Promise<Host> {
  const seen: Seen[] = [];
  const note = (request: IncomingMessage): Seen => {
    const entry: Seen = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      bytes: 0,
      isComplete: false,
    };
    seen.push(entry);
    request.on('data', (chunk: Buffer) => (entry.bytes += chunk.length));
    request.on('end', () => (entry.isComplete = true));
    request.on('error', () => {});
    // Reading begins when the handler says so.
    request.pause();
    return entry;
  };
  const server = createServer((request, response) => handler(request, response, note(request)));
  if (onExpect !== undefined)
    server.on('checkContinue', (request, response) => onExpect(request, response, note(request)));
  return listening(server, seen, 'http');
}

export async function listening(server: Server, seen: Seen[], scheme: 'http' | 'https'): Promise<Host> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Takes the whole body, then answers. */
export function takeAll(status = 200, body = ''): Handler {
  return (request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(status).end(body));
  };
}

export interface Folder extends Disposable {
  readonly path: string;
  /** Writes a file and returns its path. */
  file(name: string, content: Buffer | string): string;
}

export function tempFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'dropcast-upload-'));
  return {
    path,
    file(name, content) {
      const file = join(path, name);
      writeFileSync(file, content);
      return file;
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
