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

/**
 * A fault of a file, as shown by its container.
 *
 * - `missing`: bytes are missing, or something that no player can do without
 * - `no length`: the container has no length yet, or never gets one because its writer could not seek back
 * - `no media`: the bytes are known to be something else
 * - `small`: less than a packet, or only padding, is missing. The file plays; it may also be about to grow
 * - `hint`: bytes may be missing, but many complete files look the same
 */
export interface Flaw {
  readonly is: 'missing' | 'no length' | 'no media' | 'small' | 'hint';
  /** One sentence for people, without its full stop. */
  readonly why: string;
}

/** The result of checking the end that a container states. */
export interface Verdict {
  readonly flaw: Flaw | null;
  /** Where the file ends for players, in bytes, because stray bytes may follow. `null`: at the end of the file. */
  readonly end: number | null;
}

/** Returns the verdict that nothing contradicts the container. @param end see `Verdict` */
export function sound(end: number | null = null): Verdict {
  return { flaw: null, end };
}

export function flawed(is: Flaw['is'], why: string, end: number | null = null): Verdict {
  return { flaw: { is, why }, end };
}

/** Returns how many bytes are missing, in words; `null` if `end` lies inside the file. Both in bytes. */
export function missingBytes(end: bigint | number, size: number): string | null {
  const missing = BigInt(end) - BigInt(size);
  if (missing <= 0n) return null;
  return `the container says ${missing.toLocaleString('en-US')} ${missing === 1n ? 'byte is' : 'bytes are'} missing`;
}

/** Returns a sound verdict, or one with the number of bytes missing from the file. @param end in bytes */
export function endsAt(end: bigint | number, size: number): Verdict {
  const missing = missingBytes(end, size);
  return missing === null ? sound(Number(end)) : flawed('missing', missing);
}

export const noLength: Verdict = flawed(
  'no length',
  'the container states no length: the file is still being recorded, its recording was interrupted, or it was written through a pipe',
);
