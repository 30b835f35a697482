import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import got from 'got';
import type { Agents } from 'got';

import type { Answer } from './answer.ts';
import { beginsWithLookup, connectionFailure, connectTimeouts } from './connection.ts';
import type { Line } from './connection.ts';
import { lookupWith, resolveName } from './name-lookup.ts';
import { AbortedError, throwIfAborted, UnreadableAnswerError } from '../errors.ts';

export interface Exchange {
  /** Name of the operation, for messages. */
  readonly what: string;
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT' | 'HEAD';
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: AsyncIterable<Uint8Array> | undefined;
  /** Whether to send `Expect: 100-continue`, except to a mock. */
  readonly expects?: boolean;
  readonly agent: Agents;
  /** Replaces the system's name resolution. */
  readonly lookup?: LookupFunction | undefined;
  readonly line: Line;
  readonly signal: AbortSignal;
  /** Timeout for the whole exchange. Uploads have none; their stall watch replaces it. */
  readonly timeoutMs?: number | undefined;
  /** Called when the request has a socket, which may not be connected yet. */
  readonly onSocket?: (request: ClientRequest) => void;
  readonly onExchange?: ((exchange: SeenExchange) => void) | undefined;
}

/** A request and its response as they were sent, with the key, signed addresses and headers: not for a log. */
export interface SeenExchange {
  /** When the request was sent, in epoch milliseconds. */
  readonly at: number;
  /** Time until the end of the response, in milliseconds. */
  readonly ms: number;
  readonly method: string;
  readonly url: string;
  /** Headers by lower-case name, without those of the connection. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** The JSON of the request; missing for a request without a body, and for a file. */
  readonly requestBody?: string;
  /** Statuses of the interim responses, such as 100 (RFC 9110 section 15.2). */
  readonly interim: readonly number[];
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const lookupName = lookupWith(resolveName);

/** Maximum length of a response. It allows 40 KiB for each video on a page of 100. */
const longestAnswerBytes = 4 * 1024 * 1024;

/**
 * Sends one request and returns its response, whatever the status. Never retries, follows redirects or decompresses: a
 * short compressed response could expand into a huge one.
 *
 * @throws {ConnectionError | RequestTimeoutError} no response
 * @throws {UnreadableAnswerError} the response is too long
 * @throws {AbortedError} the signal fired
 * @throws {TypeError} `json` cannot be serialised
 */
export async function exchange({ what, url, line, signal, expects = false, ...rest }: Exchange): Promise<Answer> {
  throwIfAborted(signal, what);
  // Serialised here because got reports a value that is not serialisable as a connection error.
  const json = rest.json === undefined ? undefined : JSON.stringify(rest.json);
  const lookup = rest.lookup ?? lookupName;
  const headersSent: Record<string, string> = {
    ...rest.headers,
    // Without this header, a proxy may compress every response (RFC 9110 section 12.5.3).
    'accept-encoding': 'identity',
    ...(json !== undefined && { 'content-type': 'application/json' }),
  };
  const tooLong = new AbortController();
  const [at, startedAt, interim] = [Date.now(), performance.now(), [] as number[]];
  try {
    const request = got(url, {
      method: rest.method,
      headers: headersSent,
      agent: rest.agent,
      dnsLookup: (...asked: Parameters<LookupFunction>) => {
        line.noteLookup();
        lookup(...asked);
      },
      signal: AbortSignal.any([signal, tooLong.signal]),
      timeout: { ...connectTimeouts, ...(rest.timeoutMs !== undefined && { request: rest.timeoutMs }) },
      followRedirect: false,
      throwHttpErrors: false,
      retry: { limit: 0 },
      decompress: false,
      responseType: 'buffer',
      ...(json !== undefined && { body: json }),
      ...(rest.body !== undefined && { body: rest.body }),
    });
    void request.on('request', (sent: ClientRequest) => {
      line.attach(sent, beginsWithLookup(url, rest.agent));
      sent.on('information', ({ statusCode }) => interim.push(statusCode));
      sent.once('socket', () => {
        // Set late, because the constructor of a request with this header would send its headers.
        if (expects && !line.isMocked) sent.setHeader('expect', (headersSent['expect'] = '100-continue'));
        rest.onSocket?.(sent);
      });
    });
    void request.on('downloadProgress', ({ transferred }) => {
      if (transferred > longestAnswerBytes) tooLong.abort();
    });
    const { statusCode: status, headers, body: bytes } = await request;
    const body = new TextDecoder().decode(bytes);
    rest.onExchange?.({
      at,
      ms: performance.now() - startedAt,
      method: rest.method,
      url: url.href,
      requestHeaders: headersSent,
      ...(json !== undefined && { requestBody: json }),
      interim,
      status,
      headers,
      body,
    });
    return { status, headers, body, url };
  } catch (error) {
    if (signal.aborted) throw new AbortedError(what, signal);
    if (tooLong.signal.aborted) throw endless(what);
    throw connectionFailure(error, line, url, rest.agent);
  }
}

function endless(what: string): UnreadableAnswerError {
  const message = `the answer to ${what} is longer than ${longestAnswerBytes / 1024 / 1024} MiB`;
  return new UnreadableAnswerError(message, { code: 'answer_too_long' });
}
