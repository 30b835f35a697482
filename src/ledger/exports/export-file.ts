import { constants } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { syncPath } from '../../disk/file-system.ts';

/** The end of the lines that the ledger knows to be in the file. Anything behind it is written again. */
export interface KnownEnd {
  /** Inode number: a file that was rotated or replaced has another one. */
  readonly ino: number;
  readonly size: number;
}

/** Size in bytes from which a file is rotated: about 100,000 videos. */
const mostBytes = 20 * 1024 * 1024;

const mostRotated = 10_000;

/**
 * Prepares an export file for the next lines: creates it with its header, rotates a full one, and removes lines that a
 * crash kept from being known. The caller records the returned end before it appends.
 *
 * @param path not a symbolic link; missing parents are an error
 * @param known what the ledger recorded last; null: nothing yet, so lines that are there already are rotated
 * @param header first line, with its line break; empty: none
 * @returns the end of the file
 * @throws the file system's error, or an error that names what is at the path
 */
export async function prepareExport(
  path: string,
  known: KnownEnd | null,
  header: string,
  limitBytes = mostBytes,
): Promise<KnownEnd> {
  {
    await using file = await openExport(path);
    const { ino, size } = await file.stat();
    // A power cut must not take the name of a new file away from its lines.
    if (size === 0) await syncPath(dirname(path));
    const isKnown = known?.ino === ino;
    if (isKnown && size > known.size) await file.truncate(known.size);
    const end = isKnown ? Math.min(size, known.size) : size;
    // Another ledger wrote them, or another program: this ledger's first lines may be the same videos.
    const isStrange = known === null && !(await isStartOf(header, file, end));
    if (end < limitBytes && !isStrange) return { ino, size: await begun(file, end, header) };
  }
  await rename(path, await freeName(path));
  await syncPath(dirname(path));
  return prepareExport(path, null, header, limitBytes);
}

/** Appends lines to a prepared file and waits until they are on disk. @returns the new end of the file */
export async function appendExport(path: string, lines: string): Promise<KnownEnd> {
  // A file that is created here would have no header.
  await using file = await openExport(path, 0);
  await file.appendFile(lines);
  await file.datasync();
  const { ino, size } = await file.stat();
  return { ino, size };
}

/** Ends a last line that was cut short, and starts an empty file with its header. @returns the size in bytes */
async function begun(file: FileHandle, size: number, header: string): Promise<number> {
  // Only a crash leaves part of a header.
  const isPartOfHeader = size < header.length && (await isStartOf(header, file, size));
  if (isPartOfHeader) {
    await file.truncate(0);
    await file.appendFile(header);
  } else if (size > 0 && (await textAt(file, size - 1, 1)) !== '\n') {
    await file.appendFile('\n');
  }
  await file.datasync();
  return (await file.stat()).size;
}

/** Whether the whole file is the beginning of this text. */
async function isStartOf(text: string, file: FileHandle, size: number): Promise<boolean> {
  return size <= text.length && text.startsWith(await textAt(file, 0, size));
}

async function textAt(file: FileHandle, position: number, length: number): Promise<string> {
  return (await file.read({ buffer: Buffer.alloc(length), position })).buffer.toString();
}

async function openExport(path: string, creation = constants.O_CREAT): Promise<FileHandle> {
  const { O_RDWR, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDWR | O_APPEND | creation | O_NOFOLLOW | O_NONBLOCK, 0o640);
  const found = await file.stat();
  if (found.isFile()) return file;
  await file.close();
  throw new Error(`${path} is not a regular file`);
}

/** Returns the first free name among `links.1.csv`, `links.2.csv` and so on. Rotated files are never deleted. */
async function freeName(path: string): Promise<string> {
  const extension = extname(path);
  const stem = path.slice(0, -extension.length);
  for (let n = 1; n <= mostRotated; n += 1) {
    const name = `${stem}.${n}${extension}`;
    if ((await stat(name).catch(() => null)) === null) return name;
  }
  throw new Error(`${path} is full, and there are ${mostRotated} rotated files next to it: remove some`);
}
