/** Reads up to `length` bytes at `position`; fewer only at the end of the file. Both in bytes. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/** A file whose container is being read, whatever is in it. */
export interface MediaFile {
  /** Serves neighbouring reads from one. @throws TooMuchError over the bounds; what the reader of the file throws */
  readonly readAt: ReadAt;
  /** In bytes. */
  readonly size: number;
  /** The first bytes, at most `START_BYTES`. */
  readonly start: Buffer;
  /** How many reads reached the file so far. */
  readonly reads: () => number;
}

/** Thrown when a container wants more reads than any real one needs. Never leaves this package. */
export class TooMuchError extends Error {}

/** Bounds every parser at once: no content makes it read more often, or more, than this. */
const MOST_READS = 500;
/** 3 MiB for tables, and 8 MiB to search for the last fragment of a recording. */
const MOST_BYTES = 11 * 1024 * 1024;
/**
 * Five packets of the longest kind of transport stream. Boxes and chunks that lie close together share one read of this
 * length.
 */
const START_BYTES = 1024;
const MOST_BLOCKS = 4;

/** @throws what `readAt` throws */
export async function openMedia(readAt: ReadAt, size: number): Promise<MediaFile> {
  const blocks: { readonly at: number; readonly bytes: Buffer }[] = [];
  let reads = 0;
  let readBytes = 0;
  const read = async (position: number, length: number): Promise<Buffer> => {
    if (!Number.isSafeInteger(position) || position < 0 || position >= size || length <= 0) return Buffer.alloc(0);
    const wanted = Math.min(length, size - position);
    const known = blocks.find(({ at, bytes }) => at <= position && position + wanted <= at + bytes.length);
    if (known !== undefined) return known.bytes.subarray(position - known.at, position - known.at + wanted);
    const fetched = Math.min(Math.max(wanted, START_BYTES), size - position);
    if ((reads += 1) > MOST_READS || (readBytes += fetched) > MOST_BYTES) throw new TooMuchError();
    const bytes = await readAt(position, fetched);
    if (fetched <= START_BYTES) blocks.unshift({ at: position, bytes });
    blocks.splice(MOST_BLOCKS);
    return bytes.subarray(0, wanted);
  };
  return { readAt: read, size, start: await read(0, START_BYTES), reads: () => reads };
}
