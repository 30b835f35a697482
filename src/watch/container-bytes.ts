/** Reads up to `length` bytes at `position`; fewer only at the end of the file. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/** `end` and the file's size in bytes; `null` when the end lies inside the file. */
export function missingBytes(end: bigint, size: number): string | null {
  const missing = end - BigInt(size);
  return missing > 0n ? `the container says ${missing.toLocaleString('en-US')} bytes are missing` : null;
}
