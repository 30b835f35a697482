/** `null` when `end` lies inside the file. Both in bytes. */
export function missingBytes(end: bigint, size: number): string | null {
  const missing = end - BigInt(size);
  if (missing <= 0n) return null;
  return `the container says ${missing.toLocaleString('en-US')} ${missing === 1n ? 'byte is' : 'bytes are'} missing`;
}
