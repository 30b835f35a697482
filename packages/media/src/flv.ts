import type { MediaFile } from './media-file.ts';
import { flawed, missingBytes, sound } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export function isFlv({ start }: MediaFile): boolean {
  return start.length >= 9 && start.toString('latin1', 0, 4) === 'FLV\x01';
}

/**
 * Flash Video, Adobe FLV specification 10.1, annex E: tags, each followed by its length. `filesize` in the first tag
 * (`onMetaData`) is the length of the whole file, if the writer knew it. Otherwise only a truncated tag reveals missing
 * bytes, as in a stopped recording, which still plays.
 */
export async function flvEnd({ readAt, size, start }: MediaFile): Promise<Verdict> {
  const stated = statedSize(start);
  const missing = stated === null ? null : missingBytes(Math.ceil(stated), size);
  if (missing !== null) return flawed('missing', missing);
  const headerBytes = start.readUInt32BE(5);
  if (stated !== null || size < headerBytes + 15) return sound();
  const length = (await readAt(size - 4, 4)).readUInt32BE();
  const tag = length <= size - 4 ? await readAt(size - 4 - length, 4) : Buffer.alloc(0);
  const isWhole = tag.length === 4 && tag.readUIntBE(1, 3) + 11 === length;
  return isWhole ? sound() : flawed('small', 'the container ends in the middle of its last tag');
}

const FILE_SIZE = Buffer.from('\0\x08filesize\0', 'latin1');
/** Limit above which a number cannot be a length. */
const LARGEST = 2 ** 53;

/** Reads `filesize`, an AMF0 number (a double) that follows its name; `null` if it is missing or not above 0. */
function statedSize(start: Buffer): number | null {
  const at = start.indexOf(FILE_SIZE) + FILE_SIZE.length;
  if (at < FILE_SIZE.length || at + 8 > start.length) return null;
  const value = start.readDoubleBE(at);
  return value > 0 && value < LARGEST ? value : null;
}
