import { chunksEnd, chunksDuration, isOfChunks } from './chunks.ts';
import { asfEnd, isAsf, flvEnd, isFlv, isMp3, mp3End, isTransportStream, transportStreamEnd } from './streams.ts';
import { flacDuration, flacEnd, isFlac } from './flac.ts';
import { isIsoMedia, isoMediaDuration, isoMediaEnd } from './iso/iso-media.ts';
import { isMatroska, matroskaDuration, matroskaEnd } from './matroska.ts';
import { openMedia, TooMuchError, sound, flawed } from './media-file.ts';
import type { MediaFile, ReadAt, Verdict } from './media-file.ts';
import { isMxf, mxfEnd } from './mxf.ts';

export { afterTag } from './flac.ts';
export type { ReadAt } from './media-file.ts';
export type { Flaw, Verdict } from './media-file.ts';

/**
 * Checks where a media file ends against the lengths and counts stated in its container. Only a few pieces of the file
 * are read, never the whole file, for any content: at most 500 reads and 3 MiB, plus 8 MiB to find the last of
 * thousands of fragments. Content in an unknown container counts as sound (docs/decisions/0047).
 *
 * @param size file size in bytes
 * @throws only errors from `readAt`
 */
export async function endOf(readAt: ReadAt, size: number): Promise<Verdict> {
  const file = await openMedia(readAt, size);
  return bounded(sound(), async () => (await containerOf(file))?.end(file) ?? noMedia(file));
}

/**
 * Returns the playing time of a media file according to its container, within the same limits.
 *
 * @param size file size in bytes
 * @returns seconds, above 0; `null` if the container does not state the duration, contradicts its own bytes, or is
 *   unknown
 * @throws only errors from `readAt`
 */
export async function durationOf(readAt: ReadAt, size: number): Promise<number | null> {
  const file = await openMedia(readAt, size);
  const seconds = await bounded(null, async () => (await containerOf(file))?.duration?.(file) ?? null);
  return seconds !== null && seconds > 0 && seconds < LONGEST_SECONDS ? seconds : null;
}

/** Longest plausible duration: a year. */
const LONGEST_SECONDS = 366 * 86_400;

interface Container {
  readonly is: (file: MediaFile) => boolean | Promise<boolean>;
  readonly end: (file: MediaFile) => Promise<Verdict>;
  readonly duration?: (file: MediaFile) => Promise<number | null>;
}

/** All known containers, each with a check of how a file begins. The first match reads the file. */
const containers: readonly Container[] = [
  { is: isMatroska, end: matroskaEnd, duration: matroskaDuration },
  { is: isOfChunks, end: chunksEnd, duration: chunksDuration },
  { is: isFlac, end: flacEnd, duration: flacDuration },
  { is: isMxf, end: mxfEnd },
  { is: isTransportStream, end: transportStreamEnd },
  { is: isAsf, end: asfEnd },
  { is: isFlv, end: flvEnd },
  { is: isMp3, end: mp3End },
  { is: isIsoMedia, end: isoMediaEnd, duration: isoMediaDuration },
];

async function containerOf(file: MediaFile): Promise<Container | undefined> {
  for (const container of containers) if (await container.is(file)) return container;
  return undefined;
}

/** Runs a parser, and returns `tooMuch` for a container with more parts than any real one has. */
async function bounded<T>(tooMuch: T, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TooMuchError) return tooMuch;
    throw error;
  }
}

/**
 * Recognises by its first bytes what certainly is not a media file, as `file(1)` does: a login page, a source file or
 * an archive.
 */
export function noMedia({ start, size }: MediaFile): Verdict {
  const begins = start.toString('latin1');
  const known = signatures.find(([signature]) => begins.startsWith(signature));
  const what = known?.[1] ?? (begins.startsWith('ustar', 257) ? 'an archive (tar)' : textIn(start, size));
  return what === null ? sound() : flawed('no media', `this is ${what}, not a video`);
}

/** Signatures with which no media file begins. */
const signatures: readonly (readonly [signature: string, what: string])[] = [
  ['PK\x03\x04', 'an archive or document (ZIP)'],
  ['PK\x05\x06', 'an archive (ZIP)'],
  ['Rar!\x1a\x07', 'an archive (RAR)'],
  ['7z\xbc\xaf\x27\x1c', 'an archive (7-Zip)'],
  ['\x1f\x8b\x08', 'a compressed file (gzip)'],
  ['\xfd7zXZ\0', 'a compressed file (xz)'],
  ['(\xb5/\xfd', 'a compressed file (Zstandard)'],
  ['BZh91AY&SY', 'a compressed file (bzip2)'],
  ['Salted__', 'an encrypted file (OpenSSL)'],
  ['age-encryption.org/', 'an encrypted file (age)'],
  ['%PDF-', 'a document (PDF)'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'a document (Microsoft Office)'],
  ['SQLite format 3\0', 'a database (SQLite)'],
  ['\x89PNG\r\n\x1a\n', 'a picture (PNG)'],
  ['\x7fELF', 'a program'],
  ['d8:announce', 'a torrent file'],
];

/** First word of a Y4M video, which begins with a line of text. Playlists and subtitles are text. */
const VIDEO_IN_TEXT = 'YUV4MPEG2 ';

/**
 * Recognises text as people and programs write it: valid UTF-8 or UTF-16 in lines, markup or JSON. A few bytes without
 * structure are not classified.
 */
function textIn(start: Buffer, size: number): string | null {
  const text = decoded(start, size);
  // The only control characters in text are white space.
  if (text === null || /[^\P{Cc}\t\n\f\r]/u.test(text) || text.startsWith(VIDEO_IN_TEXT)) return null;
  const trimmed = text.trimStart();
  if (/^(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|title|script|meta)\b/isu.test(trimmed)) return 'a web page';
  if (/^<[?!a-z]/iu.test(trimmed)) return 'an XML document';
  if (/^[{[]\s*["{[]/u.test(trimmed)) return 'a JSON document';
  return text.includes('\n') || text.includes('\r') ? 'plain text' : null;
}

/** @returns null if the bytes are not text; a character truncated at the end of the piece is dropped */
function decoded(start: Buffer, size: number): string | null {
  const isUtf16 = start.length >= 4 && ['fffe', 'feff'].includes(start.toString('hex', 0, 2));
  const encoding = !isUtf16 ? 'utf-8' : start[0] === 0xff ? 'utf-16le' : 'utf-16be';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(start, { stream: start.length < size });
  } catch {
    return null;
  }
}
