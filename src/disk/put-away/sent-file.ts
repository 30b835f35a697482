import type { BigIntStats } from 'node:fs';
import { AbortedError, FileChangedError, readOpenFile } from '@dropcast/client';
import type { FileReader } from '@dropcast/client';
import type { Facts } from '../../pipeline/file/facts.ts';
import { versionOf } from '../../pipeline/file/file-version.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';
import { parseImportLink } from '../../routing/import-link.ts';
import { openRegular } from '../accepted-file.ts';
import { canHold } from '../held-directory.ts';

/** Content that the service has: bytes with this hash (hex), or the address in a link file. */
type SentContent = Pick<Facts, 'sha256' | 'sourceUrl'>;

/** What must match before a file is deleted or moved. */
interface Expected extends SentContent {
  /** Null for a sidecar, where only the content counts. */
  readonly version: FileVersion | null;
}

export interface ContentChecks {
  readonly signal: AbortSignal;
  /** Returns the process that has the file open for writing, or null; see `OpenWriters`. */
  readonly writerOf: (version: FileVersion) => Promise<string | null>;
}

/** Thrown when a process has the file open for writing. */
export class FileInUseError extends Error {
  override readonly name = 'FileInUseError';
}

/** A file with the content that was sent, held open so that changes at its path cannot affect what was checked. */
interface SentFile extends AsyncDisposable {
  /** Path through the open descriptor. */
  readonly source: string;
  /** @throws {FileChangedError} the file was modified after it was opened */
  confirm(): Promise<void>;
  /** Whether the file at this path has the same content. */
  hasCopyAt(path: string): Promise<boolean>;
}

/**
 * Opens a file that no other process can reach, and checks that its content is what was sent.
 *
 * @throws {FileChangedError} the content differs, or the file changed in the meantime
 * @throws {FileInUseError} a process could still write to the file
 * @throws {AbortedError} the signal was aborted
 */
export async function openSent(path: string, expected: Expected, checks: ContentChecks): Promise<SentFile> {
  const handle = await openRegular(path);
  const source = canHold() ? `/proc/self/fd/${handle.fd}` : path;
  const reader = await readOpenFile(handle, path);
  try {
    if (expected.version !== null) requireSameFile(reader.stats, expected.version);
    await requireNoWriter(reader.stats, checks);
    if (!(await isSent(reader, path, expected, checks.signal))) throw changed('its content is not what was sent');
    const confirm = async (): Promise<void> => {
      if (!isUntouched(reader.stats, await handle.stat({ bigint: true }))) throw changed('it was written to');
    };
    await confirm();
    return {
      source,
      confirm,
      hasCopyAt: (other) => hasContent(other, reader.stats.size, expected, checks.signal),
      [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
    };
  } catch (error) {
    await reader[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Checks that this is the accepted file, as far as its stats show. The ctime is ignored, because renames, chmod and
 * hard links change it too.
 */
export function requireSameFile(stats: BigIntStats, expected: FileVersion): void {
  if (!stats.isFile()) throw changed('it is not a regular file');
  const now = versionOf(stats);
  if (now.ino !== expected.ino || now.birthtimeNs !== expected.birthtimeNs)
    throw changed('it was replaced by another file');
  if (now.size !== expected.size || now.mtimeNs !== expected.mtimeNs) throw changed('it was written to');
}

/** @throws {FileInUseError} a process has the file open for writing */
export async function requireNoWriter(stats: BigIntStats, { writerOf }: ContentChecks): Promise<void> {
  const writer = await writerOf(versionOf(stats));
  if (writer !== null) throw new FileInUseError(`${writer} has it open for writing`);
}

/** Whether a regular file has this size and content. Throws only when aborted. */
export async function hasContent(
  path: string,
  size: bigint,
  content: SentContent,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await using reader: FileReader = await readOpenFile(await openRegular(path), path);
    return reader.stats.size === size && (await isSent(reader, path, content, signal));
  } catch (error) {
    if (error instanceof AbortedError) throw error;
    return false;
  }
}

/**
 * Whether an open file has the bytes that were sent, or the address that was imported. @throws {AbortedError} the
 * signal was aborted
 */
async function isSent(
  reader: FileReader,
  path: string,
  { sha256, sourceUrl }: SentContent,
  signal: AbortSignal,
): Promise<boolean> {
  if (sha256 !== null) return (await reader.hash(signal)) === sha256;
  return sourceUrl !== null && (await addressIn(reader, path, signal)) === sourceUrl;
}

/** Maximum size of a link file with an address (`parseImportLink`). */
const mostBytes = 256 * 1024;

async function addressIn(reader: FileReader, path: string, signal: AbortSignal): Promise<string | null> {
  if (reader.sizeBytes > mostBytes) return null;
  const bytes = Buffer.alloc(reader.sizeBytes);
  await reader.read(0, bytes, signal);
  const link = parseImportLink(path, bytes.toString('utf8'));
  return link.ok ? link.url : null;
}

function isUntouched(before: BigIntStats, now: BigIntStats): boolean {
  return before.size === now.size && before.mtimeNs === now.mtimeNs && before.ctimeNs === now.ctimeNs;
}

function changed(how: string): FileChangedError {
  return new FileChangedError(how, { code: 'changed' });
}
