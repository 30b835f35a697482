import { compareChecksums } from '../../pipeline/file/checksums.ts';
import { differentFrom } from '../../pipeline/file/failure.ts';
import type { Checksum, Digests } from '../../pipeline/file/checksums.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Answer } from '../../pipeline/file/ports.ts';

export interface MismatchWorld {
  checksums(facts: Facts): Promise<Answer<readonly Checksum[]>>;
  hash(facts: Facts, algorithm: keyof Digests): Promise<Answer<string>>;
}

/** Why a file would be held that differs from the checksum of its sender, or has one that cannot be read; or null. */
export async function mismatchOf(facts: Facts, { checksums, hash }: MismatchWorld): Promise<string | null> {
  const said = await checksums(facts);
  if (!said.ok) return said.failure.message;
  const digests: { -readonly [K in keyof Digests]: string } = {};
  for (;;) {
    const verdict = compareChecksums(said.value, digests);
    if (verdict.is === 'different') return differentFrom(verdict.checksum, digests).message;
    if (verdict.is !== 'unknown') return null;
    for (const name of verdict.needs) {
      const digest = await hash(facts, name);
      if (!digest.ok) return null;
      digests[name] = digest.value;
    }
  }
}
