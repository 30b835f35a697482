import type { Readable } from 'node:stream';

/** The chunks of a stream in order. */
export interface Chunks {
  next(): Promise<IteratorResult<unknown, unknown>>;
  /** Gives the stream up. */
  close(): void;
}

/** @returns null for anything but a stream */
export function chunksOf(opened: unknown): Chunks | null {
  if (typeof opened !== 'object' || opened === null) return null;
  if (opened instanceof ReadableStream) return ofWebStream(opened);
  if (!isIterable(opened)) return null;
  return isDestroyable(opened) ? ofNodeStream(opened) : ofIterable(opened);
}

/**
 * Not by its iterator: that one's `return` waits for a read that hangs, and the source, a download perhaps, stays open.
 */
function ofWebStream(stream: ReadableStream<unknown>): Chunks {
  const reader = stream.getReader();
  return {
    next: () => reader.read(),
    close: () => void reader.cancel().catch(() => {}),
  };
}

function ofNodeStream(stream: AsyncIterable<unknown> & Destroyable): Chunks {
  // Its iterator receives errors while it is read; a later one, from closing, would end the process.
  stream.on('error', () => {});
  const chunks = stream[Symbol.asyncIterator]();
  return { next: () => chunks.next(), close: () => void stream.destroy() };
}

function ofIterable(iterable: AsyncIterable<unknown>): Chunks {
  const chunks = iterable[Symbol.asyncIterator]();
  // A hand-written iterator may answer without a promise, or throw.
  return {
    next: async () => chunks.next(),
    // Not awaited: an iterator that hangs does not return.
    close: () => void (async () => chunks.return?.())().catch(() => {}),
  };
}

function isIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}

type Destroyable = Pick<Readable, 'destroy' | 'on'>;

/** A stream of Node, or of a package that copies them. */
function isDestroyable(value: object): value is Destroyable {
  return 'destroy' in value && typeof value.destroy === 'function' && 'on' in value && typeof value.on === 'function';
}
