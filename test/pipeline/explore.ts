import { ExploredWorld } from './explored-world.ts';
import type { Choose, Setting, Verdict } from './explored-world.ts';

export interface Exploration {
  readonly schedules: number;
  /** Each kind of violation with the first schedule that shows it: the faults in order, 'ok' left out. */
  readonly violations: ReadonlyMap<Verdict, string>;
  readonly ends: ReadonlyMap<string, number>;
}

/**
 * Plays every schedule with at most so many faults: a stateless search that plays the same world from its beginning with the
 * next list of choices, until none is left. The code that is explored must be deterministic but for the choices.
 *
 * @param wanted ends the search once it is found
 */
export async function explore(mostFaults: number, setting: Setting, wanted?: Verdict): Promise<Exploration> {
  const violations = new Map<Verdict, string>();
  const ends = new Map<string, number>();
  let prefix: readonly number[] | null = [];
  let schedules = 0;
  while (prefix !== null) {
    const choices: Choice[] = [];
    const world: ExploredWorld = new ExploredWorld(chooser(prefix, mostFaults, choices), setting);
    for (const verdict of await world.play()) {
      if (!violations.has(verdict)) violations.set(verdict, `${faultsOf(choices)} => ${world.end}`);
    }
    ends.set(world.end, (ends.get(world.end) ?? 0) + 1);
    schedules += 1;
    const isEnough = wanted !== undefined && violations.has(wanted);
    prefix = isEnough ? null : nextPrefix(choices);
  }
  return { schedules, violations, ends };
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

function faultsOf(choices: readonly Choice[]): string {
  return choices.flatMap(({ taken, fate }, index) => (taken > 0 ? [`${index}:${fate}`] : [])).join(', ');
}
