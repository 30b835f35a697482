import { keyOf } from './world-state.ts';
import type { WorldState } from './world-state.ts';
import type { SpecId } from './specs.ts';

export type Choose = (fates: readonly string[]) => string;

/** The world that is explored. */
export interface Explorable {
  initial(): WorldState;
  /** One turn: changes the state. What happens in it is chosen; the first of each list is that nothing goes wrong. */
  turn(state: WorldState, choose: Choose): Promise<void>;
  /** Nothing is left to happen. */
  isOver(state: WorldState): boolean;
  /** What is wrong with a world that is over. */
  judge(state: WorldState): readonly SpecId[];
}

/** Of the rest, from the worst state that faults led to, once nothing goes wrong any more. */
const bounds = { ms: 30 * 60_000, requests: 60 } as const;

export interface Exploration {
  /** Different orders of faults and choices, each from the beginning to its end. */
  readonly schedules: number;
  readonly states: number;
  /** Each kind of violation with a schedule that shows it. */
  readonly violations: ReadonlyMap<SpecId, string>;
  /** The longest rest from any state, once nothing goes wrong any more. */
  readonly worst: { readonly ms: number; readonly requests: number };
  readonly ends: ReadonlySet<string>;
}

interface Rest {
  readonly schedules: number;
  /** Until the end, when nothing goes wrong any more. */
  readonly ms: number;
  readonly requests: number;
}

/**
 * Visits every state that at most so many faults lead to. Two schedules that come to the same state have the same future, so it is
 * explored once and its schedules are counted as often as it is reached.
 *
 * @param wanted ends the search once it is found
 */
export async function explore(world: Explorable, mostFaults: number, wanted?: SpecId): Promise<Exploration> {
  const known = new Map<string, Rest | 'open'>();
  const violations = new Map<SpecId, string>();
  const ends = new Set<string>();
  const worst = { ms: 0, requests: 0 };
  const isEnough = (): boolean => wanted !== undefined && violations.has(wanted);
  const find = (spec: SpecId, path: string, state: WorldState): void => {
    if (!violations.has(spec)) violations.set(spec, `${path} => ${endOf(state)}`);
  };

  const visit = async (state: WorldState, faults: number, path: string): Promise<Rest> => {
    for (const spec of state.found) find(spec, path, state);
    if (world.isOver(state)) {
      ends.add(endOf(state));
      for (const spec of world.judge(state)) find(spec, path, state);
      return { schedules: 1, ms: 0, requests: 0 };
    }
    const key = `${faults} ${keyOf(state)}`;
    const before = known.get(key);
    if (before === 'open') find('V1', path, state);
    if (before !== undefined) return before === 'open' ? { schedules: 1, ms: Infinity, requests: 0 } : before;
    known.set(key, 'open');
    const rest = await branch(state, faults, path);
    known.set(key, rest);
    worst.ms = Math.max(worst.ms, rest.ms);
    worst.requests = Math.max(worst.requests, rest.requests);
    if (rest.ms > bounds.ms || rest.requests > bounds.requests) find('V1', path, state);
    return rest;
  };

  const branch = async (state: WorldState, faults: number, path: string): Promise<Rest> => {
    let schedules = 0;
    let calm: Rest = { schedules: 0, ms: Infinity, requests: Infinity };
    for (let prefix: readonly number[] | null = []; prefix !== null;) {
      const next = structuredClone(state);
      const choices: Choice[] = [];
      await world.turn(next, chooser(prefix, faults, choices));
      const taken = choices.filter(({ taken }) => taken > 0);
      const said =
        taken.length === 0 ? path : `${path}${path === '' ? '' : ', '}${taken.map(({ fate }) => fate).join(', ')}`;
      const rest = await visit(next, faults - taken.length, said);
      schedules += rest.schedules;
      if (taken.length === 0)
        calm = {
          schedules,
          ms: rest.ms + next.now - state.now,
          requests: rest.requests + next.requests - state.requests,
        };
      prefix = isEnough() ? null : nextPrefix(choices);
    }
    return { ...calm, schedules };
  };

  const { schedules } = await visit(world.initial(), mostFaults, '');
  return { schedules, states: known.size, violations, worst, ends };
}

interface Choice {
  readonly taken: number;
  readonly of: number;
  readonly fate: string;
}

function chooser(prefix: readonly number[], mostFaults: number, choices: Choice[]): Choose {
  let faults = 0;
  return (fates) => {
    const of = faults < mostFaults ? fates.length : 1;
    const taken = of === 1 ? 0 : (prefix[choices.length] ?? 0);
    const fate = fates[taken];
    if (fate === undefined) throw new Error('the explored code is not deterministic');
    choices.push({ taken, of, fate });
    if (taken > 0) faults += 1;
    return fate;
  };
}

/** The last choice that has an alternative left is changed, all before it are kept. */
function nextPrefix(choices: readonly Choice[]): readonly number[] | null {
  const last = choices.findLastIndex(({ taken, of }) => taken + 1 < of);
  if (last < 0) return null;
  const kept = choices.slice(0, last).map(({ taken }) => taken);
  return [...kept, (choices[last]?.taken ?? 0) + 1];
}

function endOf({ durable }: WorldState): string {
  return durable.map(({ end, why, path }) => `${path} ${end ?? 'unfinished'}: ${why ?? ''}`).join('; ');
}
