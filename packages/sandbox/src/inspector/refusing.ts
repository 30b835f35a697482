import type { ServerResponse } from 'node:http';
import { ApiError, errorResponse } from '../http/api-error.ts';
import { answerEarly, type EarlyAnswer } from '../http/exchange.ts';
import type { Fetch } from '../http/exchange-listener.ts';
import type { RawListener } from '../http/server.ts';
import type { ExpectationBook } from './expectation-book.ts';

/** Answers requests that break an expectation with an error, if the expectations say so, and carries out all others. */
export function refusing(fetch: Fetch, book: ExpectationBook): Fetch {
  return async (request, bindings) => {
    const response = bindings.outgoing as ServerResponse;
    if (!book.mayRefuse(response)) return fetch(request, bindings);
    const whole = request.body ? await withBodyRead(request, request.body) : request;
    if (!whole) return errorResponse(new ApiError('bad_request', 'The body was cut off.'), () => undefined);
    const reason = book.refusalOf(response);
    if (reason === undefined) return fetch(whole, bindings);
    const { status, headers, body } = refusalAnswer(reason);
    return new Response(body, { status, headers });
  };
}

/** As `refusing`, for uploads and media, whose bodies nobody expects anything of. */
export function refusingRaw(listener: RawListener, book: ExpectationBook): RawListener {
  return async (request, response, awaitsContinue) => {
    const reason = book.refusalOf(response);
    if (reason === undefined) return listener(request, response, awaitsContinue);
    answerEarly({ request, response, awaitsContinue }, refusalAnswer(reason));
  };
}

/** 417: no client takes it for an answer of the service, or tries again. */
function refusalAnswer(message: string): EarlyAnswer {
  const body = JSON.stringify({ error: { code: 'expectation_broken', message } });
  return { status: 417, headers: { 'Content-Type': 'application/json' }, body };
}

/** Slightly more than the API accepts, so that it refuses what is longer. */
const MOST_BYTES = 1024 * 1024 + 1;

/** The same request, whose body has arrived, so that the journal knows it. @returns undefined if it is cut off */
async function withBodyRead(request: Request, body: ReadableStream<Uint8Array>): Promise<Request | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MOST_BYTES) break;
    }
  } catch {
    return undefined;
  }
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, ...(length > 0 && { body: Buffer.concat(chunks) }) });
}
