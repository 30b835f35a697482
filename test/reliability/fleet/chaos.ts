import { membersChaos } from './chaos-of-members.ts';
import { postgresChaos } from './chaos-of-postgres.ts';
import { upgradeChaos } from './chaos-of-upgrades.ts';
import type { FleetOptions, FleetWorld } from './fleet-world.ts';

/** Something that happens to real processes and a real PostgreSQL. The judge alone says whether it went well. */
export interface ChaosSchedule {
  readonly options?: Partial<FleetOptions>;
  /** The quick part plays it too. */
  readonly isQuick?: boolean;
  play(world: FleetWorld): Promise<void>;
}

export const chaos: Readonly<Record<string, ChaosSchedule>> = { ...membersChaos, ...postgresChaos, ...upgradeChaos };
