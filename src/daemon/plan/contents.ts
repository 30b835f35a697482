import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Answer } from '../../pipeline/file/ports.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import { compareChecksums } from '../../pipeline/file/checksums.ts';
import type { Checksum, Digests } from '../../pipeline/file/checksums.ts';
import { differentFrom } from '../../pipeline/file/failure.ts';

/** What reading the new files says about them. */
export interface Contents {
  /** Id of a file that would be skipped → the one with the same content. */
  readonly duplicates: ReadonlyMap<string, Facts>;
  /** Id → why its sender's checksum would hold it, once it has a record. */
  readonly mismatches: ReadonlyMap<string, string>;
  /** Not read: a file of the same size came before. */
  readonly possible: ReadonlySet<string>;
}

/**
 * Which of the new files would be skipped and which held for what is in them, by the rules of the upload: only files of
 * equal size are compared, the whole content decides, and no file is skipped for one that is held itself.
 *
 * @param rows in the order in which they came
 * @param read null: nothing is read
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

/** An import sends no bytes. */
function isSent(facts: Facts): boolean {
  return stateOf(facts) === 'queued' && facts.sourceUrl === null;
}

class Judge implements Contents {
  readonly duplicates = new Map<string, Facts>();
  readonly mismatches = new Map<string, string>();
  readonly possible = new Set<string>();
  readonly #rows: ReadonlyMap<string, Facts>;
  /** Those that were looked at. */
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

  /** It would no longer be a twin. */
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

/** Why a file would be held that differs from the checksum of its sender, or has one that cannot be read; or null. */
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
