/** Longer than a lease. */
export const beyondLeaseMs = 14_000;

/** Six seconds at the bandwidth of a member. */
export const large = 600_000;

let count = 0;

/** No container that anybody knows, and never the same twice. */
export function bytes(size: number): Uint8Array {
  return Buffer.alloc(size, `bytes ${(count += 1)} of ${process.pid} `);
}
