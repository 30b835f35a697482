import { compareChecksums, differentFrom } from '../../pipeline/file/checksums.ts';
import type { Checksum, Digests } from '../../pipeline/file/checksums.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Answer } from '../../pipeline/file/ports.ts';

export interface MismatchWorld {
  checksums(facts: Facts): Promise<Answer<readonly Checksum[]>>;
  hash(facts: Facts, algorithm: keyof Digests): Promise<Answer<string>>;
}

/**
 * Which files differ from the checksum of their sender, or have one that cannot be read: their upload would hold them.
 *
 * @returns id → why it would be held
 */
export async function findMismatches(
  rows: readonly Facts[],
  world: MismatchWorld,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const facts of rows) {
    const why = await mismatchOf(facts, world);
    if (why !== null) found.set(facts.id, why);
  }
  return found;
}

async function mismatchOf(facts: Facts, { checksums, hash }: MismatchWorld): Promise<string | null> {
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
