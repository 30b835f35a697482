import type { ClientRequest } from 'node:http';
import type { LookupFunction } from 'node:net';
import got from 'got';
import type { Agents } from 'got';

import type { Answer } from './answer.ts';
import { connectionFailure, connectTimeouts } from './connection.ts';
import type { Line } from './connection.ts';
import { AbortedError, throwIfAborted, UnreadableAnswerError } from '../errors.ts';

export interface Exchange {
  /** Name of the operation, for messages. */
  readonly what: string;
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: AsyncIterable<Uint8Array> | undefined;
  readonly agent: Agents;
  /** Replaces the system's name resolution. */
  readonly lookup?: LookupFunction | undefined;
  readonly line: Line;
  readonly signal: AbortSignal;
  /** Timeout for the whole exchange. Uploads have none; their stall watch replaces it. */
  readonly timeoutMs?: number | undefined;
  readonly onRequest?: (request: ClientRequest) => void;
}

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
export async function exchange({ what, url, line, signal, ...rest }: Exchange): Promise<Answer> {
  throwIfAborted(signal, what);
  // Serialised here because got reports a value that is not serialisable as a connection error.
  const json = rest.json === undefined ? undefined : JSON.stringify(rest.json);
  const tooLong = new AbortController();
  try {
    const request = got(url, {
      method: rest.method,
      headers: {
        ...rest.headers,
        // Without this header, a proxy may compress every response (RFC 9110 section 12.5.3).
        'accept-encoding': 'identity',
        ...(json !== undefined && { 'content-type': 'application/json' }),
      },
      agent: rest.agent,
      ...(rest.lookup !== undefined && { dnsLookup: rest.lookup }),
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
      line.attach(sent);
      rest.onRequest?.(sent);
    });
    void request.on('downloadProgress', ({ transferred }) => {
      if (transferred > longestAnswerBytes) tooLong.abort();
    });
    const { statusCode: status, headers, body } = await request;
    return { status, headers, body: new TextDecoder().decode(body), url };
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
