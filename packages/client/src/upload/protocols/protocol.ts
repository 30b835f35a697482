import type { Answer } from '../../transport/answer.ts';
import type { UploadRequest } from '../upload-request.ts';

/**
 * How a host receives files: `put` in one request, from the first byte each time; `content-range` in a resumable
 * session, as of Google Cloud Storage; `tus` by the protocol tus 1.0.
 */
export type UploadProtocol = 'put' | 'content-range' | 'tus';

/** One request of a protocol, apart from the headers that do not depend on the protocol. */
export interface ProtocolRequest extends Pick<UploadRequest, 'method'> {
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Position in the file at which the body ends. */
  readonly end: number;
}

/**
 * Which requests of a protocol send a file, and what their answers mean. Created for each attempt. The caller sends the
 * requests, holds back the last part, and decides about retries.
 */
export interface ProtocolStrategy {
  readonly protocol: UploadProtocol;
  /** Whether the client asks the host for its offset even before the first byte was sent. */
  readonly asksFirst: boolean;
  /** Returns the request that asks how many bytes the host has; null if the protocol cannot resume. */
  offsetRequest(): Omit<ProtocolRequest, 'end'> | null;
  /** Returns the request that sends bytes from `offset` on. */
  uploadRequest(offset: number): ProtocolRequest;
  /**
   * Returns the number of bytes that the host has according to its answer, at most the size of the file; null if the
   * answer does not say so.
   */
  offsetIn(answer: Answer): number | null;
}

/** Reads a whole number of bytes from a header. @returns null for anything else */
export function bytesIn(text: string | string[] | undefined, most: number): number | null {
  if (typeof text !== 'string' || !/^\d{1,16}$/.test(text)) return null;
  const bytes = Number(text);
  return bytes <= most ? bytes : null;
}
