import type { Exchange } from '../../../packages/client/src/transport/exchange.ts';

/** How an upload host takes files: in one PUT, in sessions of Google Cloud Storage, or by tus. */
export type UploadProtocol = 'put' | 'content-range' | 'tus';

/** Where the body of a request belongs; `from` is null in a question. */
export interface Place {
  readonly from: number | null;
  /** Size of the file, if the request says it. */
  readonly total: number | null;
}

/** The bytes of one file that have arrived at a host that keeps them. */
export class KeptUpload {
  bytes: Uint8Array = new Uint8Array();
  total: number | null = null;
  /** Whether the last request was answered, so that the next one continues it. */
  isAnswered = false;
  /** Grows with each request: a later one ends the one before. */
  turn = 0;

  /** @param from where in the file they belong */
  add(part: Uint8Array, from: number, turn: number): void {
    if (turn !== this.turn || from > this.bytes.length) return;
    this.bytes = Buffer.concat([this.bytes, part.subarray(this.bytes.length - from)]);
  }

  get isWhole(): boolean {
    return this.bytes.length === this.total;
  }
}

/** @returns null for a request that the host does not know */
export function placeOf(protocol: UploadProtocol, { method, headers }: Exchange): Place | null {
  if (protocol === 'tus') {
    if (method === 'HEAD') return { from: null, total: null };
    return method === 'PATCH'
      ? { from: Number(headers['upload-offset']), total: numberIn(headers['upload-length']) }
      : null;
  }
  const range = headers['content-range'];
  if (range === undefined) return { from: 0, total: Number(headers['content-length']) };
  const [, from, total] = /^bytes (?:\*|(\d+)-\d+)\/(\d+)$/.exec(range) ?? [];
  return { from: numberIn(from), total: numberIn(total) };
}

/** The answer of a host to the question for its offset. */
export function offsetAnswer(protocol: UploadProtocol, { bytes: { length }, total, isWhole }: KeptUpload) {
  if (protocol === 'tus') {
    const size = total === null ? { 'upload-defer-length': '1' } : { 'upload-length': String(total) };
    return { status: 200, headers: { ...tusVersion, ...size, 'upload-offset': String(length) } };
  }
  if (isWhole) return { status: 200, headers: {} };
  return { status: 308, headers: length === 0 ? {} : { range: `bytes=0-${length - 1}` } };
}

/** In each answer of tus, also in a refusal. */
export const tusVersion = { 'tus-resumable': '1.0.0' };

function numberIn(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
