import type { HistoryLine } from '../../../ledger/history.ts';
import { redactedAddress, stateOf } from '../../../pipeline/file/facts.ts';
import type { Facts } from '../../../pipeline/file/facts.ts';
import { decide } from '../../../pipeline/file/machine.ts';
import type { FileEvent } from '../../../pipeline/file/machine.ts';
import type { Mask } from './mask.ts';

/** A file that needs the operator, with everything the state machine bases its decisions on. */
export interface BundledFile {
  readonly facts: Facts;
  readonly history: readonly HistoryLine[];
}

/** Maximum history lines per row. The newest lines explain the current state. */
const mostHistory = 200;

/**
 * Removes everything that identifies a video or would let anyone upload to its address. Fields that are set stay set,
 * so that the state machine decides as it did originally.
 */
export function maskedFile({ facts, history }: BundledFile, mask: Mask): BundledFile {
  const note = (text: string | null): string | null => (text === null ? null : mask.text(text));
  const { plan, lastFailure, amendment } = facts;
  return {
    facts: {
      ...facts,
      path: mask.relative(facts.path),
      sourceUrl: facts.sourceUrl === null ? null : 'https://redacted.invalid/',
      ...redactedAddress(facts),
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

/** What each event would do to a file next. A replay must come to the same results. */
export interface NextSteps {
  readonly state: string;
  readonly next: Readonly<Record<string, string>>;
}

const events: readonly FileEvent[] = [
  { type: 'GO' },
  { type: 'RETRY' },
  { type: 'FILE_GONE' },
  { type: 'FILE_CHANGED' },
  { type: 'REMOTE_GONE' },
  { type: 'GIVE_UP' },
];

/**
 * Computes the next steps of a file. Pure.
 *
 * @param attempts the configured `retry.attempts`
 * @param now epoch milliseconds
 */
export function nextSteps(facts: Facts, attempts: number, now: number): NextSteps {
  const state = stateOf(facts);
  const policy = { attempts, retryAt: () => now, now: () => now };
  const next = events.map((event): [string, string] => [event.type, decide(state, { facts, policy }, event).state]);
  return { state, next: Object.fromEntries(next) };
}
