import type { HashName } from '../../routing/checksum-file.ts';
import type { SidecarFile } from '../../routing/plan.ts';

/** A digest that the sender supplied for a file. */
export interface Checksum {
  readonly algorithm: HashName;
  /** Lower-case hex. */
  readonly digest: string;
  /** The sidecar that contains the digest. `goesWithIt`: the sidecar describes this file only. */
  readonly from: SidecarFile;
  readonly goesWithIt: boolean;
}

/** Hex digests of a file, by algorithm. */
export type Digests = Partial<Readonly<Record<HashName, string>>>;

export type ChecksumVerdict =
  | { readonly is: 'no checksum' | 'equal' }
  /** This digest must be computed before the comparison is possible. */
  | { readonly is: 'unknown'; readonly needs: HashName }
  | { readonly is: 'different'; readonly checksum: Checksum };

/**
 * Compares a file's digests with its sender's checksums. One match is enough, because the other checksums may describe
 * an earlier version of the file. Pure.
 */
export function compareChecksums(checksums: readonly Checksum[], digests: Digests): ChecksumVerdict {
  const [checksum] = checksums;
  if (checksum === undefined) return { is: 'no checksum' };
  if (checksums.some(({ algorithm, digest }) => digests[algorithm] === digest)) return { is: 'equal' };
  const [needs] = checksums.flatMap(({ algorithm }) => (digests[algorithm] === undefined ? [algorithm] : []));
  return needs === undefined ? { is: 'different', checksum } : { is: 'unknown', needs };
}

/** Returns the digests to compute during an upload in addition to SHA-256. Pure. */
export function alsoNeeded(checksums: readonly Checksum[]): readonly HashName[] {
  const wanted = [...new Set(checksums.map(({ algorithm }) => algorithm))];
  return wanted.includes('sha256') ? [] : wanted;
}
