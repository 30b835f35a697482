import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Answer } from '../../pipeline/file/ports.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import { compareChecksums } from '../../pipeline/file/checksums.ts';
import type { Checksum, Digests } from '../../pipeline/file/checksums.ts';
import { differentFrom } from '../../pipeline/file/failure.ts';

/** Results of reading the new files' contents. */
export interface Contents {
  /** Maps the id of a file that would be skipped to the file with the same content. */
  readonly duplicates: ReadonlyMap<string, Facts>;
  /** Maps a file's id to why its sender's checksum would hold it, once it has a record. */
  readonly mismatches: ReadonlyMap<string, string>;
  /** Ids of files that were not read although an earlier file has the same size. */
  readonly possible: ReadonlySet<string>;
}

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
): Promise<Contents> {
  const judge = new Judge(rows, ledger, read);
  for (const facts of rows.filter(isSent)) await judge.look(facts);
  return judge;
}

/** Imports are excluded: they send no bytes. */
function isSent(facts: Facts): boolean {
  return stateOf(facts) === 'queued' && facts.sourceUrl === null;
}

class Judge implements Contents {
  readonly duplicates = new Map<string, Facts>();
  readonly mismatches = new Map<string, string>();
  readonly possible = new Set<string>();
  readonly #rows: ReadonlyMap<string, Facts>;
  /** Files already examined, by size. */
  readonly #bySize = new Map<number, Facts[]>();
  readonly #ledger: RowStore<'twins'> | null;
  readonly #read: MismatchWorld | null;
  readonly #hashes = new Map<string, string | null>();

  constructor(rows: readonly Facts[], ledger: RowStore<'twins'> | null, read: MismatchWorld | null) {
    this.#rows = new Map(rows.map((facts) => [facts.id, facts]));
    this.#ledger = ledger;
    this.#read = read;
  }

  async look(facts: Facts): Promise<void> {
    const twin = facts.onDuplicate === 'skip' ? await this.#twinOf(facts) : null;
    const why = twin === null && this.#read !== null ? await mismatchOf(facts, this.#read) : null;
    if (twin !== null) this.duplicates.set(facts.id, twin);
    if (why !== null) this.mismatches.set(facts.id, why);
    const { size } = facts.version;
    const same = this.#bySize.get(size) ?? [];
    this.#bySize.set(size, same);
    same.push(facts);
  }

  async #twinOf(facts: Facts): Promise<Facts | null> {
    const known = ((await this.#ledger?.rows({ group: 'twins', of: facts, passing: [] })) ?? []).filter(
      (twin) => !this.#isGivenUp(twin),
    );
    const earlier = [...known, ...(this.#bySize.get(facts.version.size) ?? [])];
    if (earlier.length === 0) return null;
    if (this.#read === null) this.possible.add(facts.id);
    const own = await this.#hashOf(facts);
    if (own === null) return null;
    for (const other of earlier)
      if (!this.mismatches.has(other.id) && (await this.#hashOf(other)) === own) return other;
    return null;
  }

  /** A file that has been given up no longer counts as a twin. */
  #isGivenUp({ id }: Facts): boolean {
    const now = this.#rows.get(id);
    return now !== undefined && now.end !== null && now.uploadedAt === null;
  }

  async #hashOf(facts: Facts): Promise<string | null> {
    if (this.#read === null) return facts.sha256;
    const known = facts.sha256 ?? this.#hashes.get(facts.id);
    if (known !== undefined) return known;
    const answer: Answer<string> = await this.#read.hash(facts, 'sha256');
    const hash = answer.ok ? answer.value : null;
    this.#hashes.set(facts.id, hash);
    return hash;
  }
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
    for (const name of verdict.needs) {
      const digest = await hash(facts, name);
      if (!digest.ok) return null;
      digests[name] = digest.value;
    }
  }
}
