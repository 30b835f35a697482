import { isSuccess } from '../../transport/answer.ts';
import type { Answer } from '../../transport/answer.ts';
import { bytesIn } from './protocol.ts';
import type { ProtocolStrategy } from './protocol.ts';

/** Version of the protocol (tus.io/protocols/resumable-upload), sent and expected with every request. */
const version = '1.0.0';

/**
 * Most bytes in one request. Each answer confirms what arrived. Cloudflare Stream takes 5 to 200 MiB in multiples of
 * 256 KiB (developers.cloudflare.com/stream/uploading-videos/resumable-uploads).
 */
const mostBytes = 64 * 1024 * 1024;

/** The protocol tus 1.0 for an upload that the service has already created: HEAD for the offset, and PATCH. */
export function tusProtocol(sizeBytes: number): ProtocolStrategy {
  let isLengthKnown = true;
  return {
    protocol: 'tus',
    asksFirst: true,
    offsetRequest: () => ({ method: 'HEAD', headers: { 'tus-resumable': version } }),
    uploadRequest: (offset) => ({
      method: 'PATCH',
      headers: {
        'tus-resumable': version,
        'content-type': 'application/offset+octet-stream',
        'upload-offset': String(offset),
        // For an upload created before its length was known.
        ...(!isLengthKnown && { 'upload-length': String(sizeBytes) }),
      },
      end: Math.min(offset + mostBytes, sizeBytes),
    }),
    offsetIn: ({ status, headers }) => {
      if (!isSuccess(status)) return null;
      const length = headers['upload-length'];
      if (headers['upload-defer-length'] !== undefined) isLengthKnown = false;
      else if (length !== undefined && bytesIn(length, sizeBytes) !== sizeBytes) return null;
      return bytesIn(headers['upload-offset'], sizeBytes);
    },
  };
}

/** Whether the host speaks tus: it names the version in every answer, even in one that refuses a request. */
export function isTus({ headers }: Answer): boolean {
  return headers['tus-resumable'] !== undefined;
}
