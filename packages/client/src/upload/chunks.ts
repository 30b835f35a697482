import type { Readable } from 'node:stream';

/** The chunks of a stream, in order. */
export interface Chunks {
  next(): Promise<IteratorResult<unknown, unknown>>;
  /** Closes the stream early. */
  close(): void;
}

/** @returns null for anything that is not a stream */
export function chunksOf(opened: unknown): Chunks | null {
  if (typeof opened !== 'object' || opened === null) return null;
  if (opened instanceof ReadableStream) return ofWebStream(opened);
  if (!isIterable(opened)) return null;
  return isDestroyable(opened) ? ofNodeStream(opened) : ofIterable(opened);
}

/**
 * Uses a reader, not the iterator, whose `return` waits for a hanging read and leaves the source open, perhaps a
 * download.
 */
function ofWebStream(stream: ReadableStream<unknown>): Chunks {
  const reader = stream.getReader();
  return {
    next: () => reader.read(),
    close: () => void reader.cancel().catch(() => {}),
  };
}

function ofNodeStream(stream: AsyncIterable<unknown> & Destroyable): Chunks {
  // The iterator reports errors while the stream is being read; a later one, from closing, would end the process.
  stream.on('error', () => {});
  const chunks = stream[Symbol.asyncIterator]();
  return { next: () => chunks.next(), close: () => void stream.destroy() };
}

function ofIterable(iterable: AsyncIterable<unknown>): Chunks {
  const chunks = iterable[Symbol.asyncIterator]();
  // Async wrappers: a hand-written iterator may throw, or return a value instead of a promise.
  return {
    next: async () => chunks.next(),
    // Not awaited: `return` never settles if the iterator hangs.
    close: () => void (async () => chunks.return?.())().catch(() => {}),
  };
}

function isIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}

type Destroyable = Pick<Readable, 'destroy' | 'on'>;

/** Matches Node streams, and those of packages that copy them. */
function isDestroyable(value: object): value is Destroyable {
  return 'destroy' in value && typeof value.destroy === 'function' && 'on' in value && typeof value.on === 'function';
}
