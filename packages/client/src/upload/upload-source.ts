import { constants } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { isUint8Array } from 'node:util/types';

import { FileChangedError, FileUnreadableError } from '../errors.ts';
import { requireWithin } from '../settings.ts';
import type { BlobSource, OpenStreamSource, SeekableSource, StreamSource, UploadSource } from '../video-client.ts';
import type { BodyReader } from './body-reader.ts';
import { fileError, readOpenFile } from './file-reader.ts';
import { ofBlob, ofBytes } from './memory-source.ts';
import { StreamReader } from './stream-reader.ts';

/**
 * Normalises the caller's source and checks it before the first request.
 *
 * @throws {FileVanishedError | FileUnreadableError} the file does not exist or cannot be sent
 * @throws {TypeError} the value is not an upload source, or its size is not a whole number of bytes
 */
export async function seekableOf(source: UploadSource): Promise<SeekableSource> {
  if (typeof source === 'string') return await fileAt(source);
  if (source instanceof URL) return await fileAt(pathOf(source));
  if (isUint8Array(source)) return ofBytes(source);
  if (isBlob(source)) {
    requireWithin('size', source.size, [0, Number.MAX_SAFE_INTEGER]);
    return ofBlob(source);
  }
  requireSource(source);
  requireWithin('sizeBytes', source.sizeBytes, [0, Number.MAX_SAFE_INTEGER]);
  if ('openReader' in source) return source;
  const { name, sizeBytes } = source;
  const open = 'stream' in source ? onceOnly(source) : () => source.open();
  return { name, sizeBytes, openReader: async () => new StreamReader({ name, sizeBytes, open }) };
}

/**
 * Only `file:` URLs: a download would need the trust, the proxies and the retries of another host, and would let anyone who
 * chooses the URL read from this machine's network.
 */
function pathOf(url: URL): string {
  if (url.protocol === 'file:') return fileURLToPath(url);
  throw new TypeError('only file: URLs can be uploaded; for others use videos.import or {name, sizeBytes, open}');
}

function isBlob(source: object | null): source is BlobSource {
  const { name = '', size, slice, arrayBuffer }: Partial<BlobSource> = source ?? {};
  const hasFields = typeof size === 'number' && typeof name === 'string';
  return hasFields && typeof slice === 'function' && typeof arrayBuffer === 'function';
}

/** Checks the source's shape, since untyped programs may pass anything. */
function requireSource(source: StreamSource | OpenStreamSource | SeekableSource): void {
  const given: Partial<StreamSource & OpenStreamSource & SeekableSource> = source ?? {};
  const opens = [given.open, given.openReader].some((each) => typeof each === 'function') || given.stream !== undefined;
  if (typeof given.name === 'string' && opens) return;
  const isStream = Symbol.asyncIterator in Object(given) ? 'a stream needs its length: ' : '';
  throw new TypeError(
    `${isStream}the source must be a path, a file: URL, bytes, a Blob or {name, sizeBytes} with open, openReader or stream`,
  );
}

/** @throws {FileUnreadableError} an earlier attempt has read from the stream */
function onceOnly({ name, stream }: OpenStreamSource): StreamSource['open'] {
  // A stream may fail before it is read, and an error without a listener ends the process.
  if (stream instanceof Readable) stream.on('error', () => {});
  let isUsed = false;
  return () => {
    if (isUsed)
      throw new FileUnreadableError(`${JSON.stringify(name)} is a stream, which cannot be read twice`, {
        code: 'stream_used',
      });
    isUsed = true;
    return stream;
  };
}

/** Makes a source from the file at a path, following links. Every attempt must find the same version of the file. */
async function fileAt(given: string): Promise<SeekableSource> {
  const path = await realpath(given).catch((error: unknown) => {
    throw fileError(given, error);
  });
  const found = await stat(path, { bigint: true }).catch((error: unknown) => {
    throw fileError(given, error);
  });
  if (!found.isFile()) {
    throw new FileUnreadableError(`${JSON.stringify(given)} is not a regular file`, { code: 'not_a_file' });
  }
  return { name: basename(given), sizeBytes: Number(found.size), openReader: () => reopen(path, found) };
}

async function reopen(path: string, expected: BigIntStats): Promise<BodyReader> {
  // O_NONBLOCK: if a FIFO has replaced the file, opening must not wait for a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw fileError(path, error);
  });
  const reader = await readOpenFile(handle, path);
  if (isSame(reader.stats, expected)) return reader;
  await reader[Symbol.asyncDispose]();
  throw new FileChangedError(`${JSON.stringify(path)} changed before it was sent`, { code: 'file_changed' });
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.ino === other.ino &&
    one.birthtimeNs === other.birthtimeNs &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs
  );
}
