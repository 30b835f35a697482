import { partBytes } from './body-reader.ts';
import type { RunningHash } from './running-hash.ts';

export interface PartsOptions {
  readonly sizeBytes: number;
  readonly hash: RunningHash;
  /** Fills the buffer with the bytes from `position`. Calls never overlap. */
  read(position: number, into: Buffer): Promise<void>;
}

/**
 * Yields the bytes of a source part by part while hashing them, reading ahead as many parts as the hash's memory holds.
 * The last part is always a whole one (`partBytes`); the one before it may be shorter.
 *
 * A part is valid until the next is requested. If the caller stops early, a pending read finishes first.
 *
 * @throws what `read` throws
 */
export async function* partsAhead({ sizeBytes, hash, read }: PartsOptions): AsyncGenerator<Buffer, void> {
  const places = Math.ceil(hash.memory.length / partBytes);
  const lastAt = Math.max(0, sizeBytes - partBytes);
  const ahead: Promise<Buffer>[] = [];
  const hashed: Promise<void>[] = [];
  let order: Promise<unknown> = Promise.resolve();
  let begun = 0;
  let position = 0;
  let isOver = false;

  const beginNext = (): void => {
    if (position === sizeBytes) return;
    const at = position;
    position = at < lastAt ? Math.min(at + partBytes, lastAt) : sizeBytes;
    const number = begun++;
    const place = (number % places) * partBytes;
    const part = hash.memory.subarray(place, place + position - at);
    const reading = order.then(async () => {
      await hashed[number % places];
      if (isOver) return part;
      await read(at, part);
      hashed[number % places] = hash.update(part);
      return part;
    });
    // No unhandled rejection: the consumer of this part gets the error.
    reading.catch(() => {});
    order = reading;
    ahead.push(reading);
  };

  try {
    for (let n = 0; n < places; n += 1) beginNext();
    for (let reading = ahead.shift(); reading !== undefined; reading = ahead.shift()) {
      yield await reading;
      beginNext();
    }
  } finally {
    isOver = true;
    await Promise.allSettled(ahead);
  }
}
