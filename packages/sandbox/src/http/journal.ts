import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Events } from '../events.ts';
import { isAboutFiles, isOwnPath, operationOf, withoutSecrets } from './operations.ts';

export interface JournalEntry {
  /** Counted from 1, and in the events of the type 'request'. */
  readonly number: number;
  readonly operation: string;
  readonly method: string;
  /** Without the query, and without the token of an upload address. */
  readonly path: string;
  /** 0 while there is no answer, or if the client disconnected before one. */
  readonly status: number;
  /** By the service's clock. */
  readonly atMs: number;
  /** In real time, even while the service's clock is frozen; null while the exchange is in progress. */
  readonly durationMs: number | null;
  /** Bytes on the connection, with heads and encryption; null while the exchange is in progress. */
  readonly bytesIn: number | null;
  readonly bytesOut: number | null;
  /** The number of the request's API key; null without a valid one. */
  readonly keyId: number | null;
  /** The kind of the planned fault that hit it. */
  readonly fault: string | null;
}

/**
 * Requests and their answers, in order of arrival, without queries, headers and bodies, so without secrets. Bounded: the oldest entries
 * are dropped. Requests to the admin side and the page are not recorded.
 */
export class Journal {
  readonly #parts: { readonly nowMs: () => number; readonly events: Events };
  #exchanges: Exchange[] = [];
  #lastNumber = 0;
  readonly #byResponse = new WeakMap<ServerResponse, Exchange>();
  /** Bytes of the connection that earlier exchanges account for. */
  readonly #accounted = new WeakMap<Socket, Traffic>();

  /** @param parts `nowMs`: the service's clock, ms since 1970; `events`: receives `request` at the end of each exchange */
  constructor(parts: { readonly nowMs: () => number; readonly events: Events }) {
    this.#parts = parts;
  }

  /** Records the request now, and the answer when the exchange ends. */
  follow(request: IncomingMessage, response: ServerResponse): void {
    const path = pathOf(request.url ?? '');
    if (isOwnPath(path)) return;
    const exchange: Exchange = { entry: this.#begun(request.method ?? '', path), response };
    this.#byResponse.set(response, exchange);
    this.#exchanges.push(exchange);
    if (this.#exchanges.length >= 2 * MAX_ENTRIES) this.#exchanges = this.#exchanges.slice(-MAX_ENTRIES);
    const { socket } = request;
    const startMs = performance.now();
    response.once('close', () => {
      const durationMs = Math.round(performance.now() - startMs);
      exchange.entry = { ...current(exchange), durationMs, ...this.#traffic(socket) };
      exchange.response = undefined;
      // Otherwise a page with thumbnails and players would keep refreshing because of its own reads.
      if (!isAboutFiles(path)) this.#parts.events.emit('request', String(exchange.entry.number));
    });
  }

  noteKey(response: ServerResponse, keyId: number): void {
    this.#note(response, { keyId });
  }

  noteFault(response: ServerResponse, fault: string): void {
    this.#note(response, { fault });
  }

  entries(): JournalEntry[] {
    return this.#exchanges.map(current);
  }

  /** Also drops exchanges in progress. Numbering continues. */
  clear(): void {
    this.#exchanges = [];
  }

  #begun(method: string, path: string): JournalEntry {
    this.#lastNumber += 1;
    return {
      number: this.#lastNumber,
      operation: operationOf(method, path),
      method,
      path: shortened(withoutSecrets(path)),
      status: 0,
      atMs: this.#parts.nowMs(),
      ...UNDER_WAY,
    };
  }

  #note(response: ServerResponse, facts: Partial<JournalEntry>): void {
    const exchange = this.#byResponse.get(response);
    if (exchange) exchange.entry = { ...exchange.entry, ...facts };
  }

  #traffic(socket: Socket): Traffic {
    const before = this.#accounted.get(socket) ?? { bytesIn: 0, bytesOut: 0 };
    const now = { bytesIn: socket.bytesRead, bytesOut: socket.bytesWritten };
    this.#accounted.set(socket, now);
    return { bytesIn: now.bytesIn - before.bytesIn, bytesOut: now.bytesOut - before.bytesOut };
  }
}

const MAX_ENTRIES = 100_000;
const UNDER_WAY = { durationMs: null, bytesIn: null, bytesOut: null, keyId: null, fault: null };

/** Keeps the response only until it ends, for clients that read the journal before the 'close' event has fired. */
interface Exchange {
  entry: JournalEntry;
  response: ServerResponse | undefined;
}

interface Traffic {
  readonly bytesIn: number;
  readonly bytesOut: number;
}

function current({ entry, response }: Exchange): JournalEntry {
  return response?.headersSent ? { ...entry, status: response.statusCode } : entry;
}

/** A target may be a whole address (RFC 9112 section 3.2.2), even one with a user name and a password. */
function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : (URL.parse(target)?.pathname ?? '');
  return path.split(/[?#]/, 1)[0] ?? '';
}

/** Node accepts paths of 16 kB; 100,000 of those would use much memory. */
function shortened(path: string): string {
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path;
}

const MAX_PATH = 300;
