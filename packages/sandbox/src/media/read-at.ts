/** Reads up to `length` bytes at `position`; fewer only at the end of the file. */
export type ReadAt = (position: number, length: number) => Uint8Array;
