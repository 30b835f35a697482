import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Answer, FileStore } from '../../pipeline/file/ports.ts';

export type TwinLedger = Pick<FileStore, 'twins'>;

/** What files of the same size are. */
export interface Duplicates {
  /** Id of a file that would be skipped → the one with the same content. */
  readonly sure: ReadonlyMap<string, Facts>;
  /** Nobody read them: a file of the same size came before. */
  readonly possible: ReadonlySet<string>;
}

/**
 * Which of the new files have the content of another one, by the rule of the upload: only files of equal size are read, and the whole
 * content decides.
 *
 * @param hash reads a file; null: nothing is read
 */
export async function findDuplicates(
  rows: readonly Facts[],
  ledger: TwinLedger | null,
  hash: ((facts: Facts) => Promise<Answer<string>>) | null,
): Promise<Duplicates> {
  const sure = new Map<string, Facts>();
  const possible = new Set<string>();
  const hashes = new Map<string, string | null>();
  const hashOf = async (facts: Facts): Promise<string | null> => {
    const known = facts.sha256 ?? hashes.get(facts.id);
    if (known !== undefined || hash === null) return known ?? null;
    const answer = await hash(facts);
    hashes.set(facts.id, answer.ok ? answer.value : null);
    return answer.ok ? answer.value : null;
  };
  const bySize = new Map<number, Facts[]>();
  for (const facts of rows.filter(isSent)) {
    const { size } = facts.version;
    const before = bySize.get(size) ?? [];
    bySize.set(size, [...before, facts]);
    if (facts.onDuplicate !== 'skip') continue;
    const others = [...((await ledger?.twins(facts, [])) ?? []), ...before];
    if (others.length === 0) continue;
    if (hash === null) possible.add(facts.id);
    const own = await hashOf(facts);
    const twin = own === null ? undefined : await firstAsync(others, async (other) => (await hashOf(other)) === own);
    if (twin !== undefined) sure.set(facts.id, twin);
  }
  return { sure, possible };
}

/** An import sends no bytes. */
export function isSent(facts: Facts): boolean {
  return stateOf(facts) === 'queued' && facts.sourceUrl === null;
}

async function firstAsync<T>(values: readonly T[], isIt: (value: T) => Promise<boolean>): Promise<T | undefined> {
  for (const value of values) if (await isIt(value)) return value;
  return undefined;
}
