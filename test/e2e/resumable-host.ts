import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A host that keeps what arrived of a broken upload: sessions of Google Cloud Storage, or tus 1.0. */
export type Resumable = 'content-range' | 'tus';

/** The bytes of one file that have arrived. */
export class PartialBody {
  readonly #hash = createHash('sha256');
  /** Bytes that have arrived in order. */
  size = 0;
  total: number | null = null;
  /** All bytes of all requests, also those that had arrived before. */
  received = 0;
  /** Requests, also those without a body. */
  requests = 0;
  #sender: IncomingMessage | null = null;

  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Another request to the same address ends the one before: its rest does not count. */
  takenBy(request: IncomingMessage): void {
    this.#sender?.removeAllListeners('data');
    this.#sender?.destroy();
    this.#sender = request;
    this.requests += 1;
  }

  /** @param from where in the file these bytes belong */
  add(part: Buffer, from: number): void {
    this.received += part.length;
    const fresh = part.subarray(Math.max(0, this.size - from));
    if (from > this.size || fresh.length === 0) return;
    this.#hash.update(fresh);
    this.size += fresh.length;
  }
}

/** Where the body of a request belongs; null for a question. */
interface Place {
  readonly from: number | null;
  readonly total: number | null;
}

/** Takes a part of a file, or says how much has arrived. @param complete called when all of it has */
export function takePart(
  protocol: Resumable,
  body: PartialBody,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  complete: (sha256: string, size: number) => void,
): void {
  const place = placeOf(protocol, request);
  body.takenBy(request);
  const say = (): void => {
    const [status, headers] = protocol === 'tus' ? tusAnswer(body, request.method) : rangeAnswer(body);
    response.writeHead(status, headers).end();
  };
  if (place === null) return void response.writeHead(405, { 'tus-resumable': '1.0.0' }).end();
  if (place.from === null) return say();
  body.total ??= place.total;
  if (place.from > body.size || (protocol === 'tus' && place.from !== body.size))
    return void response.writeHead(409, { 'tus-resumable': '1.0.0' }).end();
  const wasComplete = body.size === body.total;
  let position = place.from;
  if (request.headers.expect !== undefined) response.writeContinue();
  request.on('error', () => undefined);
  request.on('data', (part: Buffer) => {
    body.add(part, position);
    position += part.length;
  });
  request.on('end', () => {
    // A second whole file is a second body.
    if (body.size === body.total && (!wasComplete || place.from === 0)) complete(body.sha256, body.size);
    say();
  });
}

function placeOf(protocol: Resumable, { method, headers }: IncomingMessage): Place | null {
  if (protocol === 'tus') {
    if (method === 'HEAD') return { from: null, total: null };
    const total = headers['upload-length'] === undefined ? null : Number(headers['upload-length']);
    return method === 'PATCH' ? { from: Number(headers['upload-offset']), total } : null;
  }
  const range = headers['content-range'];
  if (range === undefined) return { from: 0, total: Number(headers['content-length']) };
  const [, from, total] = /^bytes (?:\*|(\d+)-\d+)\/(\d+)$/.exec(range) ?? [];
  return { from: from === undefined ? null : Number(from), total: Number(total) };
}

function tusAnswer({ size, total }: PartialBody, method: string | undefined): [number, Record<string, string>] {
  const length: Record<string, string> =
    total === null ? { 'upload-defer-length': '1' } : { 'upload-length': String(total) };
  const headers = { 'tus-resumable': '1.0.0', 'upload-offset': String(size) };
  return method === 'HEAD' ? [200, { ...headers, ...length }] : [204, headers];
}

function rangeAnswer({ size, total }: PartialBody): [number, Record<string, string>] {
  if (size === total) return [200, {}];
  return [308, { 'content-length': '0', ...(size > 0 && { range: `bytes=0-${size - 1}` }) }];
}
