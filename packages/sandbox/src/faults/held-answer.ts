import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** A complete response that has not been sent yet. */
export interface HeldAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Captures what the handler writes. Resolves to the complete response, or to undefined if the connection closes first.
 * The response object then works normally again, with status and headers set.
 */
export function holdAnswer(response: ServerResponse): Promise<HeldAnswer | undefined> {
  const chunks: Buffer[] = [];
  const keep = (chunk: unknown) => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
    if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const before = HELD.map((name) => [name, Object.getOwnPropertyDescriptor(response, name)] as const);
  return new Promise((resolve) => {
    const release = (isComplete: boolean) => {
      for (const [name, own] of before) {
        if (own) Object.defineProperty(response, name, own); // the journal's
        else Reflect.deleteProperty(response, name);
      }
      const { statusCode: status } = response;
      resolve(isComplete ? { status, headers: response.getHeaders(), body: Buffer.concat(chunks) } : undefined);
    };
    response.once('close', () => release(false));
    response.flushHeaders = () => undefined;
    response.writeHead = (status: number, ...rest: unknown[]) => {
      response.statusCode = status;
      setHeaders(response, rest.at(-1));
      return response;
    };
    response.write = (chunk: unknown) => {
      keep(chunk);
      return true;
    };
    response.end = (chunk?: unknown) => {
      keep(chunk);
      release(true);
      return response;
    };
  });
}

const HELD = ['flushHeaders', 'writeHead', 'write', 'end'];

export function sendAnswer(response: ServerResponse, { status, headers, body }: HeldAnswer): void {
  response.statusCode = status;
  setHeaders(response, headers);
  if (body.length > 0) response.setHeader('Content-Length', body.length);
  response.end(body);
}

/** Sets headers in either form that Node accepts: an object, or a flat array of names and values. */
function setHeaders(response: ServerResponse, headers: unknown): void {
  if (typeof headers !== 'object' || headers === null) return;
  const pairs = Array.isArray(headers) ? pairsOf(headers) : Object.entries(headers);
  for (const [name, value] of pairs) if (value !== undefined) response.setHeader(name, value as OutgoingHttpHeader);
}

function pairsOf(flat: readonly unknown[]): [string, unknown][] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[String(name), flat[index + 1]] as [string, unknown]] : []));
}
