import type { HistoryLine } from '../../../ledger/history.ts';
import { stateOf } from '../../../pipeline/file/facts.ts';
import type { Facts } from '../../../pipeline/file/facts.ts';
import { decide } from '../../../pipeline/file/machine.ts';
import type { FileEvent } from '../../../pipeline/file/machine.ts';

/** A file that needs the operator, with everything the state machine bases its decisions on. */
export interface BundledFile {
  readonly facts: Facts;
  readonly history: readonly HistoryLine[];
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
