import { isIncomplete, isSuccess } from '../../transport/answer.ts';
import type { Answer } from '../../transport/answer.ts';
import { bytesIn } from './protocol.ts';
import type { ProtocolStrategy } from './protocol.ts';

/**
 * A resumable session of Google Cloud Storage, as Mux hands out: a PUT of the whole file which, if it breaks, is
 * continued by a PUT with `Content-Range`. A PUT without a body asks for the offset, and 308 answers it
 * (cloud.google.com/storage/docs/performing-resumable-uploads).
 */
export function contentRangeProtocol(sizeBytes: number): ProtocolStrategy {
  return {
    protocol: 'content-range',
    asksFirst: false,
    offsetRequest: () => ({ method: 'PUT', headers: { 'content-range': `bytes */${sizeBytes}` } }),
    uploadRequest: (offset) => ({
      method: 'PUT',
      headers: offset === 0 ? {} : { 'content-range': `bytes ${offset}-${sizeBytes - 1}/${sizeBytes}` },
      end: sizeBytes,
    }),
    offsetIn: (answer) => {
      if (isSuccess(answer.status)) return sizeBytes;
      return isIncomplete(answer) ? offsetOf(answer, sizeBytes) : null;
    },
  };
}

/**
 * Whether an address is a session of Google Cloud Storage. Only these are asked for their offset unless the caller or
 * the host says so: a host that ignores `Content-Range` would store the question as an empty file.
 */
export function isSessionAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname, searchParams } = new URL(address);
  const isStorage = hostname === 'storage.googleapis.com' || hostname.endsWith('.storage.googleapis.com');
  return searchParams.has('upload_id') && (isStorage || searchParams.get('uploadType') === 'resumable');
}

/**
 * Reads `Range: bytes=0-N`; without the header the host has nothing. With 308 the file is incomplete, even if the range
 * has all of it.
 *
 * @returns null if the header is not of this form
 */
function offsetOf({ headers }: Answer, sizeBytes: number): number | null {
  const { range } = headers;
  if (range === undefined) return 0;
  const last = bytesIn(/^bytes=0-(\d+)$/.exec(range)?.[1], sizeBytes - 2);
  return last === null ? null : last + 1;
}
