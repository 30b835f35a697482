import { membersChaos } from './chaos-of-members.ts';
import { postgresChaos } from './chaos-of-postgres.ts';
import { upgradeChaos } from './chaos-of-upgrades.ts';
import type { ChaosSchedule } from './fleet-world.ts';

export const chaos: Readonly<Record<string, ChaosSchedule>> = { ...membersChaos, ...postgresChaos, ...upgradeChaos };
