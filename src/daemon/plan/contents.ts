import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Answer } from '../../pipeline/file/ports.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import { compareChecksums } from '../../pipeline/file/checksums.ts';
import type { Checksum, Digests } from '../../pipeline/file/checksums.ts';
import { differentFrom } from '../../pipeline/file/failure.ts';

export type Contents = Awaited<ReturnType<typeof judgeContents>>;

/**
 * Predicts which new files would be skipped as duplicates or held for a checksum mismatch. Follows the upload's rules:
 * only files of equal size are compared, the whole content decides, and a held file does not make another a duplicate.
 *
 * @param rows in order of arrival
 * @param read null: read no files
 */
export async function judgeContents(
  rows: readonly Facts[],
  ledger: RowStore<'twins'> | null,
  read: MismatchWorld | null,
) {
  /** Maps the id of a file that would be skipped to the file with the same content. */
  const duplicates = new Map<string, Facts>();
  /** Maps a file's id to why its sender's checksum would hold it, once it has a record. */
  const mismatches = new Map<string, string>();
  /** Ids of files that were not read although an earlier file has the same size. */
  const possible = new Set<string>();
  const predicted = new Map(rows.map((facts) => [facts.id, facts]));
  const lookedAt = new Map<number, Facts[]>();
  const hashes = new Map<string, string | null>();

  const hashOf = async (facts: Facts): Promise<string | null> => {
    if (read === null) return facts.sha256;
    const known = facts.sha256 ?? hashes.get(facts.id);
    if (known !== undefined) return known;
    const answer = await read.hash(facts, 'sha256');
    const hash = answer.ok ? answer.value : null;
    hashes.set(facts.id, hash);
    return hash;
  };
  /** A file that has been given up no longer counts as a twin. */
  const isGivenUp = ({ id }: Facts): boolean => {
    const now = predicted.get(id);
    return now !== undefined && now.end !== null && now.uploadedAt === null;
  };
  const twinOf = async (facts: Facts, ofSize: readonly Facts[]): Promise<Facts | null> => {
    const known = (await ledger?.rows({ group: 'twins', of: facts, passing: [] })) ?? [];
    const earlier = [...known.filter((twin) => !isGivenUp(twin)), ...ofSize];
    if (earlier.length === 0) return null;
    if (read === null) possible.add(facts.id);
    const own = await hashOf(facts);
    if (own === null) return null;
    for (const other of earlier) if (!mismatches.has(other.id) && (await hashOf(other)) === own) return other;
    return null;
  };

  // Imports are left out: they send no bytes.
  for (const facts of rows.filter((each) => stateOf(each) === 'queued' && each.sourceUrl === null)) {
    const { id, version, onDuplicate } = facts;
    const ofSize = lookedAt.get(version.size) ?? [];
    const twin = onDuplicate === 'skip' ? await twinOf(facts, ofSize) : null;
    const why = twin === null && read !== null ? await mismatchOf(facts, read) : null;
    if (twin !== null) duplicates.set(id, twin);
    if (why !== null) mismatches.set(id, why);
    lookedAt.set(version.size, [...ofSize, facts]);
  }
  return { duplicates, mismatches, possible };
}

interface MismatchWorld {
  checksums(facts: Facts): Promise<Answer<readonly Checksum[]>>;
  hash(facts: Facts, algorithm: keyof Digests): Promise<Answer<string>>;
}

/**
 * Returns why a file would be held: it differs from its sender's checksum, or the checksum cannot be read. Null: it
 * would not be held.
 */
async function mismatchOf(facts: Facts, { checksums, hash }: MismatchWorld): Promise<string | null> {
  const said = await checksums(facts);
  if (!said.ok) return said.failure.message;
  const digests: { -readonly [K in keyof Digests]: string } = {};
  for (;;) {
    const verdict = compareChecksums(said.value, digests);
    if (verdict.is === 'different') return differentFrom(verdict.checksum, digests).message;
    if (verdict.is !== 'unknown') return null;
    const digest = await hash(facts, verdict.needs);
    if (!digest.ok) return null;
    digests[verdict.needs] = digest.value;
  }
}
