import { stateOf } from '../../../pipeline/file/facts.ts';
import type { Facts } from '../../../pipeline/file/facts.ts';
import { decide } from '../../../pipeline/file/machine.ts';
import type { FileEvent } from '../../../pipeline/file/machine.ts';

/** What would become of a file next, by event: for a replay, which has to find the same. */
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

/** Pure. @param attempts `retry.attempts` of the configuration @param now epoch milliseconds */
export function nextSteps(facts: Facts, attempts: number, now: number): NextSteps {
  const state = stateOf(facts);
  const policy = { attempts, retryAt: () => now, now: () => now };
  const next = events.map((event): [string, string] => [event.type, decide(state, { facts, policy }, event).state]);
  return { state, next: Object.fromEntries(next) };
}
