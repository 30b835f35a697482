import { createHash } from 'node:crypto';

/** Of all different bytes, so that a piece sent twice or out of order shows in the hash. */
export function content(bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) buffer.writeUInt32LE(at, at);
  return buffer;
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
