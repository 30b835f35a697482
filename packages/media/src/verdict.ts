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
