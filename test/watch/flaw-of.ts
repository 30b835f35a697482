import { endOf } from '@dropcast/media';
import type { Flaw } from '@dropcast/media';

export interface Judged {
  readonly flaw: string | null;
  readonly is: Flaw['is'] | null;
  readonly end: number;
  readonly reads: number;
  readonly readBytes: number;
}

/** Judges bytes as a file of `size` bytes: what lies behind the bytes reads as zeros. */
export async function flawOf(bytes: Buffer, size = bytes.length): Promise<Judged> {
  let reads = 0;
  let readBytes = 0;
  const { flaw, end } = await endOf((position, length) => {
    reads += 1;
    const wanted = Math.max(0, Math.min(length, size - position));
    readBytes += wanted;
    const out = Buffer.alloc(wanted);
    if (position < bytes.length) bytes.copy(out, 0, position, Math.min(bytes.length, position + wanted));
    return Promise.resolve(out);
  }, size);
  return { flaw: flaw?.why ?? null, is: flaw?.is ?? null, end: end ?? size, reads, readBytes };
}
