import { openDatabases } from '../simulation/databases.ts';
import { liveOnEngines, openEngineTables } from '../engines/engines.ts';
import type { Lives } from '../simulation/life.ts';
import { liveAsFleet, openOnce } from './fleet-life.ts';
import { liveOnLeases, openLeaseTables } from './lease-life.ts';

/** Lives on a PostgreSQL server. */
export type FleetWorldName = 'fleet' | 'leases' | 'engines';

const worlds = {
  engines: { open: openEngineTables, live: liveOnEngines },
  fleet: { open: openOnce, live: liveAsFleet },
  leases: { open: openLeaseTables, live: liveOnLeases },
} as const;

/** @param url of a PostgreSQL server, as its superuser */
export async function openFleets(name: FleetWorldName, url: string): Promise<Lives> {
  const { open, live } = worlds[name];
  const databases = await openDatabases(url, open);
  return {
    live: async (seed, onLine) => {
      await databases.next();
      return live(seed, onLine);
    },
    [Symbol.asyncDispose]: () => databases[Symbol.asyncDispose](),
  };
}
