import { createHash } from 'node:crypto';
import { storable } from './statement.ts';

/** In bytes. A row of a btree takes 2,704, and has two of these. */
const longest = 1_000;

/**
 * Pure: what stands for a text in an index. A short one is its own key. A long one has its beginning, by which it is in its order, and a hash
 * of all of it, and is longer than any short one
 * ([why](../../../docs/decisions/0072-one-text-for-two-stores.md)).
 */
export function keyOf(text: string): string {
  const whole = storable(text);
  const start = startOf(whole);
  return start === whole ? whole : `${start}${createHash('sha256').update(whole).digest('hex')}`;
}

/** The part of a text with which its key begins. */
export function startOf(text: string): string {
  // A letter takes three bytes at most, or four for two.
  if (text.length * 3 <= longest) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= longest) return text;
  let end = longest;
  while (isInsideLetter(bytes.readUInt8(end))) end -= 1;
  return bytes.toString('utf8', 0, end);
}

function isInsideLetter(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}
