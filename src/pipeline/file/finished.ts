import type { End, Facts } from './facts.ts';
import { reasonOf } from './reasons.ts';

/** Pure: what a row gets when its file comes to an end. */
export function finished(facts: Facts, end: End, now: number): Partial<Facts> {
  return {
    end,
    notBefore: null,
    why: facts.why ?? reasonOf(end, facts),
    endedAt: facts.endedAt ?? now,
    disposal: end === 'done' ? (facts.disposal ?? firstDisposal(facts)) : facts.disposal,
  };
}

function firstDisposal({ afterReady }: Facts): Facts['disposal'] {
  if (afterReady.kind === 'keep') return 'kept';
  return afterReady.kind === 'delete' && afterReady.later !== undefined ? 'later' : 'pending';
}
