import { isUtf8 } from 'node:buffer';
import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** Why a file with such a name is left alone. */
export const BROKEN_NAME = 'its name is not valid UTF-8';

/** A name of bytes that are no UTF-8, for people: `a\xffb.mp4`. */
export function escapeName(name: Buffer): string {
  return Array.from(name, (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}

/** Whether a path that is not there stands for a name of other bytes: as people see it, or as a shell or a program passes it on. */
export async function meansBrokenName(path: string): Promise<boolean> {
  const name = basename(path);
  const there = await readdir(dirname(path), { encoding: 'buffer' }).catch(() => []);
  return there.some((bytes) => !isUtf8(bytes) && (escapeName(bytes) === name || bytes.toString() === name));
}
