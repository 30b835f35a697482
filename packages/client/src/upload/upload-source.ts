import { stat, realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

import type { BodySource } from './body-source.ts';
import { codeOf, FileUnreadableError, FileVanishedError } from '../errors.ts';
import { openChecked } from './opened-file.ts';
import { requireWithin } from '../settings.ts';
import { StreamedSource } from './streamed-source.ts';
import type { StreamSource, UploadSource } from '../video-client.ts';

/** What an upload sends, looked at once and opened anew for each attempt. */
export interface Sendable {
  readonly name: string;
  readonly sizeBytes: number;
  /** @throws {FileChangedError} if it is no longer what was looked at */
  open(): Promise<BodySource & AsyncDisposable>;
}

/**
 * Looks at what is to be sent, before anything is asked of the service.
 *
 * @throws {FileVanishedError | FileUnreadableError} there is no such file, or it is none
 * @throws {TypeError} it is neither a path nor a stream, or the size of the stream is no whole number of bytes
 */
export async function sendableOf(source: UploadSource): Promise<Sendable> {
  if (typeof source === 'string') return await fileOf(source);
  requireStreamSource(source);
  requireWithin('sizeBytes', source.sizeBytes, [0, Number.MAX_SAFE_INTEGER]);
  return { name: source.name, sizeBytes: source.sizeBytes, open: async () => new StreamedSource(source) };
}

/** A program without types may hand over a URL or a Buffer. */
function requireStreamSource(source: StreamSource): void {
  const { name, open }: Partial<StreamSource> = source ?? {};
  if (typeof name === 'string' && typeof open === 'function') return;
  throw new TypeError('what is to be sent must be a path, or {name, sizeBytes, open}');
}

/** A link may be named, what is sent is where it leads. Every attempt must find the very version that is there now. */
async function fileOf(named: string): Promise<Sendable> {
  const path = await onDisk(named, realpath(named));
  const found = await onDisk(named, stat(path, { bigint: true }));
  if (!found.isFile()) throw unreadable(named, 'is no regular file', 'not_a_file');
  const expected = {
    dev: String(found.dev),
    ino: String(found.ino),
    birthtimeNs: String(found.birthtimeNs),
    size: Number(found.size),
    mtimeNs: String(found.mtimeNs),
    ctimeNs: String(found.ctimeNs),
  };
  return {
    name: basename(named),
    sizeBytes: expected.size,
    open: () => openChecked(dirname(path), path, expected),
  };
}

async function onDisk<T>(named: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw unreadable(named, `cannot be read: ${code}`, code);
    throw new FileVanishedError(`there is no file ${JSON.stringify(named)}`, { code, cause: error });
  }
}

function unreadable(named: string, how: string, code: string): FileUnreadableError {
  return new FileUnreadableError(`${JSON.stringify(named)} ${how}`, { code });
}
