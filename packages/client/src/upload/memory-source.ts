import { randomUUID } from 'node:crypto';

import { codeOf, FileChangedError, FileUnreadableError } from '../errors.ts';
import { untilAborted } from '../until-aborted.ts';
import type { BlobSource, SeekableSource } from '../video-client.ts';

/** Makes a source from bytes in memory. Their content type is not known, so they have no extension. */
export function ofBytes(bytes: Uint8Array): SeekableSource {
  return ofParts('bytes', bytes.byteLength, (from, to) => bytes.subarray(from, to));
}

/** Makes a source from a Blob or File, which may be larger than memory (`fs.openAsBlob`). */
export function ofBlob(blob: BlobSource): SeekableSource {
  const { name = 'blob', size } = blob;
  return ofParts(name, size, async (from, to) => new Uint8Array(await blob.slice(from, to).arrayBuffer()));
}

function ofParts(
  name: string,
  sizeBytes: number,
  part: (from: number, to: number) => Uint8Array | Promise<Uint8Array>,
): SeekableSource {
  // Only this call's attempts continue one another: nothing shows whether a later call has the same bytes.
  const version = randomUUID();
  const read = async (position: number, into: Buffer, signal: AbortSignal): Promise<void> => {
    const reading = (async () => await part(position, position + into.length))();
    const bytes = await untilAborted(reading, signal, 'the upload').catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw unreadable(name, error);
    });
    if (bytes.length !== into.length)
      throw new FileChangedError(`${JSON.stringify(name)} became shorter`, { code: 'file_changed' });
    into.set(bytes);
  };
  const reader = { sizeBytes, version, read, confirm: async () => {}, [Symbol.asyncDispose]: async () => {} };
  return { name, sizeBytes, openReader: async () => reader };
}

function unreadable(name: string, error: unknown): FileUnreadableError {
  const code = codeOf(error) ?? 'read_failed';
  return new FileUnreadableError(`${JSON.stringify(name)} cannot be read: ${code}`, { code, cause: error });
}
