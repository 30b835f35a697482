import { compareChecksums } from '../file/checksums.ts';
import type { Checksum, Digests } from '../file/checksums.ts';
import type { Facts } from '../file/facts.ts';
import { differentFrom } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import type { LocalFiles } from '../file/ports.ts';

export interface Proof {
  /** Why the last part of the file must not be sent; null if no checksum contradicts it. */
  readonly mismatch: Failure | null;
  readonly learned: Pick<Partial<Facts>, 'plan'>;
}

/**
 * Compares a body, whose last part has not been sent yet, with the checksums that its sender supplies at this moment. A
 * checksum that arrived during the upload may need a digest that was not computed; the file is then read once more.
 *
 * @throws when the file cannot be read, because it is then unknown whether it is the right one
 */
export async function proveContent(
  facts: Facts,
  digests: Digests,
  signal: AbortSignal,
  { local }: { readonly local: Pick<LocalFiles, 'checksums' | 'hash'> },
): Promise<Proof> {
  const said = await local.checksums(facts);
  if (!said.ok) return { mismatch: said.failure, learned: {} };
  const verdict = compareChecksums(said.value, digests);
  if (verdict.is === 'different') return { mismatch: differentFrom(verdict.checksum, digests), learned: {} };
  if (verdict.is !== 'unknown') return { mismatch: null, learned: withProofs(facts, said.value) };
  const [algorithm] = verdict.needs;
  if (algorithm === undefined) return { mismatch: null, learned: {} };
  const hash = await local.hash(facts, signal, algorithm);
  if (!hash.ok) return { mismatch: hash.failure, learned: {} };
  return proveContent(facts, { ...digests, [algorithm]: hash.value }, signal, { local });
}

/** Adds to the plan the checksum files that belong to this file alone and move with it. */
function withProofs({ plan }: Facts, checksums: readonly Checksum[]): Pick<Partial<Facts>, 'plan'> {
  const own = checksums.filter(({ goesWithIt }) => goesWithIt).map(({ from }) => from);
  if (plan === null || own.length === 0) return {};
  const others = (plan.proofs ?? []).filter(({ path }) => !own.some((proof) => proof.path === path));
  return { plan: { ...plan, proofs: [...others, ...own] } };
}
