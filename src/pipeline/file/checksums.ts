import type { HashName } from '../../routing/checksum-file.ts';
import type { SidecarFile } from '../../routing/plan.ts';

/** What a sender says the digest of a file is. */
export interface Checksum {
  readonly algorithm: HashName;
  /** Hex, lower case. */
  readonly digest: string;
  /** Of the file that says so. `goesWithIt`: it is about this one file alone. */
  readonly from: SidecarFile;
  readonly goesWithIt: boolean;
}

/** Digests of a file, hex. */
export type Digests = Partial<Readonly<Record<HashName, string>>>;

export type ChecksumVerdict =
  | { readonly is: 'no checksum' | 'equal' }
  /** These have to be computed before anything can be said. */
  | { readonly is: 'unknown'; readonly needs: readonly HashName[] }
  | { readonly is: 'different'; readonly checksum: Checksum };

/**
 * Pure: whether a file is what its sender sent. One checksum that is equal is enough: others may be of an earlier version of it.
 */
export function compareChecksums(checksums: readonly Checksum[], digests: Digests): ChecksumVerdict {
  if (checksums.length === 0) return { is: 'no checksum' };
  if (checksums.some(({ algorithm, digest }) => digests[algorithm] === digest)) return { is: 'equal' };
  const needs = [...new Set(checksums.map(({ algorithm }) => algorithm))].filter((name) => digests[name] === undefined);
  if (needs.length > 0) return { is: 'unknown', needs };
  const [checksum] = checksums;
  if (checksum === undefined) return { is: 'no checksum' };
  return { is: 'different', checksum };
}

/** Pure: what has to be computed while a file is sent, beside its SHA-256. */
export function alsoNeeded(checksums: readonly Checksum[]): readonly HashName[] {
  const wanted = [...new Set(checksums.map(({ algorithm }) => algorithm))];
  return wanted.includes('sha256') ? [] : wanted;
}
