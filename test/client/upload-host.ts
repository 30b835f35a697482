import type { OutgoingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, type RunningServer } from '../support/server.ts';

/** A request as a real server saw it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  bytes: number;
  /** The whole body arrived. */
  isComplete: boolean;
}

export interface Host extends RunningServer {
  readonly seen: Seen[];
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
  return { ...(await listen(server)), seen };
}

/** Takes the whole body, then answers. */
export function takeAll(status = 200, body: string | Buffer = '', headers: OutgoingHttpHeaders = {}): Handler {
  return (request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(status, headers).end(body));
  };
}
