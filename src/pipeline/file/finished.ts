import type { End, Facts } from './facts.ts';
import { reasonOf } from './reasons.ts';

export function finished(facts: Facts, end: End, now: number): Partial<Facts> {
  return {
    end,
    notBefore: null,
    why: facts.why ?? reasonOf(end, facts),
    endedAt: facts.endedAt ?? now,
    disposal: disposalOf(facts, end),
  };
}

function disposalOf(facts: Facts, end: End): Facts['disposal'] {
  const { disposal } = facts;
  if (end === 'done') return disposal ?? firstDisposal(facts);
  const isLeft = disposal !== null && disposal !== 'deleted' && disposal !== 'moved';
  // A superseded file belongs to another row now.
  return end === 'superseded' && isLeft ? 'kept' : disposal;
}

function firstDisposal({ afterReady }: Facts): Facts['disposal'] {
  if (afterReady.kind === 'keep') return 'kept';
  return afterReady.kind === 'delete' && afterReady.later !== undefined ? 'later' : 'pending';
}
