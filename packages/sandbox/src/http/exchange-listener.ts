import type { BackgroundWork } from '../background-work.ts';
import type { PortParts } from './server.ts';

/** Receives copies of an API request, including the part of its body that was read, and of the answer. */
export type ExchangeListener = (request: Request, response: Response) => void | Promise<void>;

export type Fetch = PortParts['fetch'];

/** Passes every API exchange to the listener. Answers do not wait for the listener, but closing does. */
export function showingExchanges(fetch: Fetch, onExchange: ExchangeListener, background: BackgroundWork): Fetch {
  return async (request, bindings) => {
    if (!isOfApi(request)) return fetch(request, bindings);
    const read: Uint8Array[] = [];
    const answer = await fetch(request.body ? withBodyNoted(request, request.body, read) : request, bindings);
    const { method, headers } = request;
    const asked = new Request(request.url, { method, headers, ...(read.length > 0 && { body: Buffer.concat(read) }) });
    background.track(show(onExchange, asked, answer.clone()));
    return answer;
  };
}

function isOfApi({ url }: Request): boolean {
  return /^\/v1(\/|$)/.test(new URL(url).pathname);
}

/**
 * Returns the same request, recording its body as it is read. A clone would not do: a cloned request has two bodies,
 * and neither can be cancelled without the other (Streams Standard, ReadableStreamTee), so a refused upload would wait
 * for its listener.
 */
function withBodyNoted(request: Request, body: ReadableStream<Uint8Array>, read: Uint8Array[]): Request {
  const noting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      read.push(chunk);
      controller.enqueue(chunk);
    },
  });
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, body: body.pipeThrough(noting), duplex: 'half' });
}

async function show(onExchange: ExchangeListener, request: Request, response: Response): Promise<void> {
  await onExchange(request, response);
}
