import { Random } from '../simulation/machine/random.ts';

/** What goes wrong in a fleet. Times are milliseconds. */
export type Fault =
  /** `kill -9`; the member starts again later. */
  | { readonly kind: 'kill'; readonly at: number; readonly member: number; readonly forMs: number }
  /** SIGSTOP and SIGCONT: longer than a lease, or not. */
  | { readonly kind: 'freeze'; readonly at: number; readonly member: number; readonly forMs: number }
  /** The member does not reach PostgreSQL: nobody refuses it, nobody answers. */
  | { readonly kind: 'cut off'; readonly at: number; readonly member: number; readonly forMs: number }
  /** PostgreSQL does not run. */
  | { readonly kind: 'stopped'; readonly at: number; readonly forMs: number }
  /** PostgreSQL crashes and is there again at once: whatever was begun is rolled back. */
  | { readonly kind: 'crash'; readonly at: number }
  /** Connections break, before a statement arrives or after it was done. */
  | { readonly kind: 'bad line'; readonly at: number; readonly forMs: number; readonly share: number };

export type FaultKind = Fault['kind'];

/** Everything that one seed decides beforehand. */
export interface Schedule {
  readonly seed: number;
  readonly stormMs: number;
  /** How far the wall clock of each member is from the truth. */
  readonly clocks: readonly number[];
  readonly faults: readonly Fault[];
  /** A member dies about every so many calls besides. */
  readonly meanCalls: number;
  readonly requestsPerHour: number;
  /** The storm is all: with this budget it may take an hour until the last file is done. */
  readonly isTight: boolean;
  /** Network faults between members and the service. */
  readonly hasWeather: boolean;
}

export const memberNames = ['ingest1', 'ingest2', 'ingest3'] as const;

const tenMinutes = 600_000;

/** Pure: the schedule of a seed. @param longestMs of its storm; the shortest is a quarter of that */
export function scheduleOf(seed: number, longestMs: number): Schedule {
  const random = new Random(seed, 'fleet');
  const stormMs = random.between(longestMs / 4, longestMs);
  const isTight = seed % 5 === 0;
  const faults = Array.from({ length: 1 + random.below(4) }, () => faultOf(random, stormMs));
  return {
    seed,
    stormMs,
    clocks: memberNames.map(() => (random.chance(0.4) ? random.pick([-tenMinutes, tenMinutes]) : 0)),
    faults: faults.toSorted((one, other) => one.at - other.at),
    meanCalls: random.pick([Infinity, Infinity, 300, 1_500]),
    requestsPerHour: isTight ? 10 : 1_000,
    isTight,
    hasWeather: random.chance(0.3),
  };
}

function faultOf(random: Random, stormMs: number): Fault {
  const at = random.between(2_000, stormMs);
  const member = random.below(memberNames.length);
  const kind = random.pick(['kill', 'kill', 'freeze', 'freeze', 'cut off', 'stopped', 'crash', 'bad line'] as const);
  switch (kind) {
    case 'kill':
      return { kind, at, member, forMs: random.pick([100, 3_000, 20_000, 40_000]) };
    case 'freeze':
      return { kind, at, member, forMs: random.pick([1_000, 7_000, 9_000, 13_000, 25_000]) };
    case 'cut off':
      return { kind, at, member, forMs: random.pick([3_000, 12_000, 30_000]) };
    case 'stopped':
      return { kind, at, forMs: random.pick([1_000, 8_000, 20_000]) };
    case 'crash':
      return { kind, at };
    case 'bad line':
      return { kind, at, forMs: random.between(1_000, 15_000), share: random.pick([0.01, 0.05, 0.2]) };
    default:
      return kind satisfies never;
  }
}

/** In words, for a failure that is to be played again. */
export function shownFault(fault: Fault): string {
  const who = 'member' in fault ? ` ${memberNames[fault.member]}` : '';
  const howLong = 'forMs' in fault ? ` for ${(fault.forMs / 1_000).toFixed(1)} s` : '';
  return `${(fault.at / 1_000).toFixed(1)} s: ${fault.kind}${who}${howLong}`;
}
