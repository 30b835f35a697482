import type { IncomingMessage, ServerResponse } from 'node:http';
import { operationOf, withoutSecrets } from './operations.ts';

export interface JournalEntry {
  readonly operation: string;
  readonly method: string;
  /** Without the query, and without the token of an upload address. */
  readonly path: string;
  /** 0 when the client went away before an answer. */
  readonly status: number;
  readonly atMs: number;
}

/** What was asked and answered, in the order of arrival, without bodies and keys. Bounded: the oldest entries go. */
export class Journal {
  readonly #nowMs: () => number;
  #exchanges: Exchange[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Notes the request now and its answer's status as soon as there is one. */
  follow(request: IncomingMessage, response: ServerResponse): void {
    const method = request.method ?? '';
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const entry = {
      operation: operationOf(method, path),
      method,
      path: withoutSecrets(path),
      status: 0,
      atMs: this.#nowMs(),
    };
    const exchange: Exchange = { entry, response };
    response.once('close', () => {
      exchange.entry = settled(exchange);
      exchange.response = undefined;
    });
    this.#exchanges.push(exchange);
    if (this.#exchanges.length >= 2 * MAX_ENTRIES) this.#exchanges = this.#exchanges.slice(-MAX_ENTRIES);
  }

  entries(): JournalEntry[] {
    return this.#exchanges.map(settled);
  }
}

const MAX_ENTRIES = 100_000;

/** Holds the response only until it has ended: a client may ask for the journal before its connection's events are through. */
interface Exchange {
  entry: JournalEntry;
  response: ServerResponse | undefined;
}

function settled({ entry, response }: Exchange): JournalEntry {
  return response?.headersSent ? { ...entry, status: response.statusCode } : entry;
}
