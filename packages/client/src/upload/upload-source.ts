import { constants } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';

import { FileChangedError, FileUnreadableError } from '../errors.ts';
import { requireWithin } from '../settings.ts';
import type { SeekableSource, StreamSource, UploadSource } from '../video-client.ts';
import type { BodyReader } from './body-reader.ts';
import { fileError, readOpenFile } from './file-reader.ts';
import { StreamReader } from './stream-reader.ts';

/**
 * Normalises the caller's source and checks it before the first request.
 *
 * @throws {FileVanishedError | FileUnreadableError} the file does not exist or cannot be sent
 * @throws {TypeError} the value is not an upload source, or its size is not a whole number of bytes
 */
export async function seekableOf(source: UploadSource): Promise<SeekableSource> {
  if (typeof source === 'string') return await fileAt(source);
  requireSource(source);
  requireWithin('sizeBytes', source.sizeBytes, [0, Number.MAX_SAFE_INTEGER]);
  if ('openReader' in source) return source;
  const { name, sizeBytes } = source;
  return { name, sizeBytes, openReader: async () => new StreamReader(source) };
}

/** Checks the source's shape, since untyped programs may pass a URL or a Buffer. */
function requireSource(source: StreamSource | SeekableSource): void {
  const given: Partial<StreamSource & SeekableSource> = source ?? {};
  const opens = typeof given.open === 'function' || typeof given.openReader === 'function';
  if (typeof given.name === 'string' && opens) return;
  throw new TypeError('the source must be a path, {name, sizeBytes, open} or {name, sizeBytes, openReader}');
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
