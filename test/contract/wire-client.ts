import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { checkExchange } from './contract.ts';
import type { WireRequest } from './arbitraries.ts';

export interface WireAnswer {
  readonly status: number;
  readonly body: string;
  /** What was against the contract. */
  readonly problems: readonly string[];
}

/** Sends requests as they are, without a URL library that would tidy them up, and counts them. */
export class WireClient implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;
  readonly #apiKey: string;
  readonly #counts = new Map<number, number>();
  /** What went wrong on a connection after an answer, as bytes beyond its end. */
  readonly afterwards: string[] = [];

  constructor({ port, apiKey }: { readonly port: number; readonly apiKey: string }) {
    this.#port = port;
    this.#apiKey = apiKey;
  }

  /** With the key, unless the request says otherwise. A 500 is a problem whatever the contract says. */
  async send({ method, target, headers, body }: WireRequest): Promise<WireAnswer> {
    const sent = { authorization: `Bearer ${this.#apiKey}`, ...(body !== undefined && lengthOf(body)), ...headers };
    const response = await this.#answer({ method, target, headers: sent, body });
    const responseBody = await text(response);
    const status = response.statusCode ?? 0;
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
    const problems = checkExchange({
      method,
      url: `http://127.0.0.1:${this.#port}${target}`,
      requestHeaders: new Headers(sent),
      requestBody: target.startsWith('/uploads/') ? undefined : (body ?? ''),
      status,
      responseHeaders: new Headers(response.headers as Record<string, string>),
      responseBody,
    });
    return { status, body: responseBody, problems: status === 500 ? [...problems, 'answered 500'] : problems };
  }

  /** Says how many requests there were, and how they were answered. */
  summary(): string {
    const counts = [...this.#counts].toSorted(([one], [other]) => one - other);
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const accepted = counts.reduce((sum, [status, count]) => sum + (status < 300 ? count : 0), 0);
    return `${total} requests, ${accepted} 2xx (${counts.map(([status, count]) => `${status}: ${count}`).join(', ')})`;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #answer({ method, target, headers, body }: WireRequest): Promise<IncomingMessage> {
    const options = { host: '127.0.0.1', port: this.#port, method, path: target, headers, agent: this.#agent };
    const asked = request(options);
    if ('expect' in headers) asked.on('continue', () => asked.end(body));
    else asked.end(body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    asked.on('error', (error) => this.afterwards.push(`${method} ${target}: ${error.message}`));
    return response;
  }
}

function lengthOf(body: string): Record<string, string> {
  return { 'content-length': String(Buffer.byteLength(body)) };
}
