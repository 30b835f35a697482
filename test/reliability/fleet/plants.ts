import type { SpecId } from '../model/specs.ts';
import type { Replacement } from '../simulation/plants.ts';
import type { FleetWorldName } from './fleets.ts';
import type { FleetInvariant } from './judge.ts';

/** A bug of a fleet that a judge must see. */
export interface FleetPlant {
  readonly name: string;
  /** The smallest world that shows it. */
  readonly world: FleetWorldName;
  /** Any of these is right. */
  readonly breaks: readonly (FleetInvariant | SpecId | 'same')[];
  /** Seeds that showed it last. */
  readonly seen: readonly number[];
  readonly changes: readonly Replacement[];
}

export const fleetPlants: readonly FleetPlant[] = [
  {
    name: 'no fence',
    world: 'leases',
    breaks: ['no host writes a file that another holds', 'no host completes a file that another holds', 'D1', 'D2'],
    seen: [31],
    changes: [
      {
        file: 'src/fleet/leases.ts',
        from: ' and job.retry_count = (held.value ->> 2)::int',
        to: '',
      },
      {
        file: 'src/fleet/leases.ts',
        from: "where job.state = 'active' order by job.id for update of job`",
        to: '`',
      },
    ],
  },
  {
    name: 'a lease that is too short for its beat',
    world: 'leases',
    breaks: ['what a living member holds stays its own'],
    seen: [2],
    changes: [
      { file: 'src/fleet/held-jobs.ts', from: 'const touchEveryMs = 2_500;', to: 'const touchEveryMs = 14_000;' },
      {
        file: 'src/fleet/held-jobs.ts',
        from: 'const silentMs = 0.8 * heartbeatSeconds * 1_000;',
        to: 'const silentMs = 30_000;',
      },
    ],
  },
  {
    name: 'a budget for each host',
    world: 'fleet',
    breaks: ['no rolling hour has more requests than the budget'],
    seen: [15],
    changes: [
      {
        file: 'src/daemon/state/open-state.ts',
        from: 'return stack.use(fleet);',
        to: `const { ledger, marks, sharing } = stack.use(fleet);
          const budget = ownBudget({ load: async () => null, save: async () => undefined }, clock);
          return { ledger, marks, sharing, budget };`,
      },
    ],
  },
  {
    name: 'published, whatever was wanted meanwhile',
    world: 'fleet',
    breaks: ['a feed is published after the last time that this was wanted'],
    seen: [2],
    changes: [{ file: 'src/ledger/records.ts', from: " AND last_at <= ?', [feed, lastAt]", to: "', [feed]" }],
  },
];
