import type { HistoryLine } from '../../../ledger/history.ts';
import type { Facts } from '../../../pipeline/file/facts.ts';
import type { Mask } from './mask.ts';

/** A file that needs a person, with all that the machine decides by. */
export interface BundledFile {
  readonly facts: Facts;
  readonly history: readonly HistoryLine[];
}

/** Lines of one row: the newest say why it is where it is. */
const mostHistory = 200;

/**
 * A row without anything that identifies a film or lets anybody send to its address. What is there stays there, so that the machine
 * decides as it did.
 */
export function maskedFile({ facts, history }: BundledFile, mask: Mask): BundledFile {
  const note = (text: string | null): string | null => (text === null ? null : mask.text(text));
  const { plan, lastFailure, amendment, afterReady } = facts;
  return {
    facts: {
      ...facts,
      path: mask.relative(facts.path),
      sourceUrl: facts.sourceUrl === null ? null : 'https://redacted.invalid/',
      uploadUrl: facts.uploadUrl === null ? null : 'https://redacted.invalid/',
      sha256: facts.sha256 === null ? null : mask.words(facts.sha256),
      plan:
        plan === null
          ? null
          : {
              ...plan,
              title: mask.words(plan.title),
              description: plan.description === null ? null : mask.words(plan.description),
              tags: plan.tags.map((tag) => mask.words(tag)),
              ...(plan.sidecar && { sidecar: { ...plan.sidecar, path: mask.relative(plan.sidecar.path) } }),
              ...(plan.proofs && {
                proofs: plan.proofs.map((proof) => ({ ...proof, path: mask.relative(proof.path) })),
              }),
            },
      afterReady,
      amendment:
        amendment === null
          ? null
          : {
              ...(amendment.title !== undefined && { title: mask.words(amendment.title) }),
              ...(amendment.description !== undefined && { description: mask.words(amendment.description) }),
              ...(amendment.tags && { tags: amendment.tags.map((tag) => mask.words(tag)) }),
            },
      why: note(facts.why),
      lastFailure: lastFailure === null ? null : { ...lastFailure, message: mask.text(lastFailure.message) },
    },
    history: history.slice(-mostHistory).map((line) => ({ ...line, note: note(line.note) })),
  };
}
