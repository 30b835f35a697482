import { createHash } from 'node:crypto';

/** Name of a random value. The same seed and name give the same value, regardless of call order. */
type Name = readonly (string | number)[];

/** @returns a fraction in [0, 1) */
export function seededFraction(seed: number, name: Name): number {
  return digest(seed, name).readUIntBE(0, 6) / 2 ** 48;
}

/** @returns `length` (1 to 32) characters from a-z and 0-9, without i, l, o and u, which are easily confused */
export function seededToken(seed: number, name: Name, length: number): string {
  return Array.from(digest(seed, name).subarray(0, length), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

function digest(seed: number, name: Name): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([seed, ...name]))
    .digest();
}
