import type { HashName } from '../../routing/checksum-file.ts';
import type { SidecarFile } from '../../routing/plan.ts';

/** The digest that a sender states for a file. */
export interface Checksum {
  readonly algorithm: HashName;
  /** Hex, lower case. */
  readonly digest: string;
  /** The sidecar that states it. `goesWithIt`: the sidecar describes this one file alone. */
  readonly from: SidecarFile;
  readonly goesWithIt: boolean;
}

/** Digests of a file, hex. */
export type Digests = Partial<Readonly<Record<HashName, string>>>;

export type ChecksumVerdict =
  | { readonly is: 'no checksum' | 'equal' }
  /** These digests have to be computed before the comparison can be made. */
  | { readonly is: 'unknown'; readonly needs: readonly HashName[] }
  | { readonly is: 'different'; readonly checksum: Checksum };

/**
 * Pure: whether a file is what its sender sent. One equal checksum is enough, because the others may describe an
 * earlier version of the file.
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

/** Pure: the digests to compute while a file is sent, in addition to SHA-256. */
export function alsoNeeded(checksums: readonly Checksum[]): readonly HashName[] {
  const wanted = [...new Set(checksums.map(({ algorithm }) => algorithm))];
  return wanted.includes('sha256') ? [] : wanted;
}
