import { partBytes } from './body-reader.ts';
import type { RunningHash } from './running-hash.ts';

export interface PartsOptions {
  readonly sizeBytes: number;
  readonly hash: RunningHash;
  /** Fills the buffer with the bytes from a position; called one after the other. */
  read(position: number, into: Buffer): Promise<void>;
}

/**
 * The bytes of a source in order, part by part, each being hashed: as many parts are read ahead as the memory of the
 * hash holds. The last part is a whole one (`partBytes`), the one before it may be shorter.
 *
 * A part is valid until the next is asked for. When a caller stops early, a read that is under way ends first.
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
    // The consumer of this part receives the error.
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
