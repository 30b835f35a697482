/**
 * The fault of a file, as its container shows it.
 *
 * - `missing`: bytes, or what no player can do without, are not there
 * - `no length`: the container has no length yet, or never gets one because its writer could not go back
 * - `no media`: the bytes are known to be something else
 * - `small`: what is missing is less than a packet, or is padding. The file plays; it may also be about to grow
 * - `hint`: bytes may be missing; many whole files look the same
 */
export interface Flaw {
  readonly is: 'missing' | 'no length' | 'no media' | 'small' | 'hint';
  /** One sentence for a person, without its full stop. */
  readonly why: string;
}

/** The end that a container states. */
export interface Verdict {
  readonly flaw: Flaw | null;
  /** Where it ends for players, in bytes: stray bytes may follow. `null`: with the file. */
  readonly end: number | null;
}

/** Nothing contradicts. @param end see `Verdict` */
export function sound(end: number | null = null): Verdict {
  return { flaw: null, end };
}

export function flawed(is: Flaw['is'], why: string, end: number | null = null): Verdict {
  return { flaw: { is, why }, end };
}

/** `null` when `end` lies inside the file. Both in bytes. */
export function missingBytes(end: bigint | number, size: number): string | null {
  const missing = BigInt(end) - BigInt(size);
  if (missing <= 0n) return null;
  return `the container says ${missing.toLocaleString('en-US')} ${missing === 1n ? 'byte is' : 'bytes are'} missing`;
}

/** Sound, or flawed by as many bytes as lie behind the file. @param end in bytes */
export function endsAt(end: bigint | number, size: number): Verdict {
  const missing = missingBytes(end, size);
  return missing === null ? sound(Number(end)) : flawed('missing', missing);
}

export const noLength: Verdict = flawed(
  'no length',
  'the container states no length: the file is still being recorded, its recording was interrupted, or it was written through a pipe',
);
