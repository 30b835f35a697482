/** Reads up to `length` bytes at `position`; fewer only at the end of the file. Both in bytes. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/** A file whose container is being read, with any content. */
export interface MediaFile {
  /**
   * Serves neighbouring reads from a single one. @throws TooMuchError beyond the limits; any error from the underlying
   * reader
   */
  readonly readAt: ReadAt;
  /** Size in bytes. */
  readonly size: number;
  /** First bytes of the file, at most `START_BYTES`. */
  readonly start: Buffer;
  /** Returns how many reads have reached the file so far. */
  readonly reads: () => number;
}

/** Thrown when a container requires more reads than any real one needs. Never leaves this package. */
export class TooMuchError extends Error {}

/** Limits every parser: no content can cause more reads, or more bytes read, than this. */
const MOST_READS = 500;
/** Maximum number of bytes read: 3 MiB for tables, plus 8 MiB to search for the last fragment of a recording. */
const MOST_BYTES = 11 * 1024 * 1024;
/**
 * Length of the initial read: five packets of the longest kind of transport stream. Boxes and chunks close together
 * share one read of this length.
 */
const START_BYTES = 1024;
const MOST_BLOCKS = 4;

/** @throws any error from `readAt` */
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
