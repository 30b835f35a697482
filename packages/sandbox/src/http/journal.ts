import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Events } from '../events.ts';
import type { FaultRule } from '../faults/fault-rule.ts';
import { type InspectedRequest, Masking } from '../inspector/details.ts';
import { FollowedExchange, BoundedDetails } from '../inspector/followed-exchange.ts';
import { type JournalEntry, shortened } from './journal-entry.ts';
import { isAboutFiles, isOwnPath, operationOf, withoutSecrets } from './operations.ts';

interface JournalParts {
  /** The service's clock, ms since 1970. */
  readonly nowMs: () => number;
  /** Receives `request` at the start and end of each exchange. */
  readonly events: Events;
  /** Plain-text secrets to hide in entries. */
  readonly secrets?: readonly string[];
  /** Default: 100,000. */
  readonly mostEntries?: number;
}

/**
 * Records requests and their answers, in order of arrival, without secrets. Two limits apply: above 100,000 entries,
 * the oldest entries are dropped, and when headers and bodies need more than about 32 MiB, the oldest headers and
 * bodies are dropped. Requests to the admin side and the page are not recorded.
 */
export class Journal {
  readonly #parts: JournalParts;
  readonly #masking: Masking;
  #exchanges: FollowedExchange[] = [];
  #lastNumber = 0;
  #forgotten = 0;
  #cleared = 0;
  readonly #byResponse = new WeakMap<ServerResponse, FollowedExchange>();
  readonly #details = new BoundedDetails();
  /** Bytes of each connection that belong to earlier exchanges. */
  readonly #accounted = new WeakMap<Socket, Traffic>();

  /** @param parts clock, events, and the secrets to hide */
  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#masking = new Masking(parts.secrets ?? []);
  }

  /** Number of the last request that was dropped for lack of room; 0 if none was. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Number of the latest request when the journal was last cleared; 0 if it never was. */
  get cleared(): number {
    return this.#cleared;
  }

  /** Number of the latest request. */
  get lastNumber(): number {
    return this.#lastNumber;
  }

  /** Records the request now, and its answer when the exchange ends. */
  follow(request: IncomingMessage, response: ServerResponse): void {
    const { path, query } = targetOf(request.url ?? '');
    if (isOwnPath(path)) return;
    const exchange = new FollowedExchange(this.#begun(request.method ?? '', path, query), {
      request,
      response,
      masking: this.#masking,
    });
    this.#byResponse.set(response, exchange);
    this.#exchanges.push(exchange);
    const { mostEntries = MOST_ENTRIES } = this.#parts;
    if (this.#exchanges.length >= 2 * mostEntries) {
      const old = this.#exchanges.splice(0, this.#exchanges.length - mostEntries);
      this.#forgotten = old.at(-1)?.number ?? 0;
      this.#forget(old);
    }
    // File reads are not announced: a page with thumbnails and players would keep refreshing because of its own reads.
    const announce = () => {
      if (!isAboutFiles(path)) this.#parts.events.emit('request', String(exchange.number));
    };
    announce();
    const { socket } = request;
    const startMs = performance.now();
    response.once('close', () => {
      const durationMs = Math.round(performance.now() - startMs);
      exchange.end({ durationMs, ...this.#traffic(socket) });
      this.#details.add(exchange);
      announce();
    });
  }

  noteKey(response: ServerResponse, keyId: number): void {
    this.#byResponse.get(response)?.note({ keyId });
  }

  noteFault(response: ServerResponse, rule: FaultRule): void {
    this.#byResponse.get(response)?.noteFault(rule);
  }

  entries(): JournalEntry[] {
    return this.#exchanges.map((exchange) => exchange.entry());
  }

  /** Returns the entries with their details, which are computed when first read. */
  inspected(): InspectedRequest[] {
    return this.#exchanges.map((exchange) => exchange.inspected());
  }

  find(number: number): InspectedRequest | undefined {
    return this.#exchanges.find((exchange) => exchange.number === number)?.inspected();
  }

  /** Drops all entries, including exchanges in progress. Numbering continues. */
  clear(): void {
    this.#forgotten = 0;
    this.#cleared = this.#lastNumber;
    this.#forget(this.#exchanges);
    this.#exchanges = [];
  }

  #forget(exchanges: readonly FollowedExchange[]): void {
    for (const exchange of exchanges) this.#details.drop(exchange);
  }

  #begun(method: string, path: string, query: string): JournalEntry {
    this.#lastNumber += 1;
    const shownPath = this.#masking.text(shortened(withoutSecrets(path)));
    return {
      number: this.#lastNumber,
      operation: operationOf(method, path),
      method,
      path: shownPath,
      query: shortened(this.#masking.query(query)),
      status: 0,
      atMs: this.#parts.nowMs(),
      ...UNDER_WAY,
    };
  }

  #traffic(socket: Socket): Traffic {
    const before = this.#accounted.get(socket) ?? { bytesIn: 0, bytesOut: 0 };
    const now = { bytesIn: socket.bytesRead, bytesOut: socket.bytesWritten };
    this.#accounted.set(socket, now);
    return { bytesIn: now.bytesIn - before.bytesIn, bytesOut: now.bytesOut - before.bytesOut };
  }
}

const MOST_ENTRIES = 100_000;
const UNDER_WAY = {
  durationMs: null,
  bytesIn: null,
  bytesOut: null,
  keyId: null,
  fault: null,
  videoId: null,
  channelId: null,
  feedId: null,
};

interface Traffic {
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Splits a request target. It may be an absolute URL (RFC 9112 section 3.2.2), even with a user name and password. */
function targetOf(target: string): { readonly path: string; readonly query: string } {
  const url = target.startsWith('/') ? undefined : URL.parse(target);
  const [whole = ''] = (url === undefined ? target : `${url?.pathname ?? ''}${url?.search ?? ''}`).split('#', 1);
  const at = whole.indexOf('?');
  return at === -1 ? { path: whole, query: '' } : { path: whole.slice(0, at), query: whole.slice(at + 1) };
}
