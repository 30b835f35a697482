import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PostgresPool } from './postgres/pool.ts';
import { notifyOf } from './postgres/connection.ts';
import { createHostTable, TableFleet } from './host-table.ts';
import { joinFleet } from './hosts.ts';
import type { Member, MemberWorld } from './hosts.ts';
import type { TableFleetWorld } from './host-table.ts';
import type { BudgetNow } from '../host/budget-store.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openRowsToRead } from './postgres/open.ts';
import type { PostgresPlace } from './postgres/client-config.ts';
import { openPool } from './postgres/pool.ts';
import type { Fleet } from '../view/hosts/fleet-view.ts';
import { readFoundPlaces, sharedOf } from './found-places.ts';
import type { ConfiguredFolder } from './found-places.ts';
import { inPlaces } from './in-places.ts';
import { createPlaces, sharedFoldersNow } from './places.ts';
import { readSharedBudget } from './shared-budget.ts';

type Given = Pick<MemberWorld, 'name' | 'version' | 'schema' | 'clock' | 'logger' | 'waits' | 'found'>;

/**
 * Joins this host to the fleet in the pool's database.
 *
 * @param member.stateDir locked by this process, so its previous user has stopped
 * @throws {LedgerError} if another running member has the name
 */
export async function openMember(
  pool: PostgresPool,
  { stateDir, ...member }: Given & { readonly stateDir: string },
): Promise<Member> {
  const file = join(stateDir, 'host-instance');
  return joinFleet({
    ...member,
    ...tableOf(pool),
    before: await readFile(file, 'utf8').catch(() => null),
    // If this fails, the next start after a crash waits 15 s.
    keep: (instance) => writeFile(file, instance, { mode: 0o600 }).catch(() => undefined),
    announce: async () => void (await pool.rows(`SELECT ${notifyOf('hosts')}`)),
    rest: (ms) => delay(ms),
  });
}

/** Opens the fleet for a command on a host without a daemon. */
export function openFleet(pool: PostgresPool, asker: Pick<TableFleetWorld, 'name' | 'clock'>): TableFleet {
  return new TableFleet({ ...asker, ...tableOf(pool) });
}

function tableOf(pool: PostgresPool): Pick<TableFleetWorld, 'table' | 'hostsOf' | 'awaySince' | 'whyAway'> {
  return {
    table: createHostTable((text, values) => pool.rows(text, values)),
    hostsOf: async (ids) => {
      const rows = await pool.rows<{ id: string; host: string }>(
        'SELECT id, host FROM dropcast.file WHERE id = ANY($1) AND host IS NOT NULL',
        [ids],
      );
      return new Map(rows.map(({ id, host }) => [id, host]));
    },
    awaySince: () => pool.awaySince(),
    whyAway: () => pool.whyAway(),
  };
}

/** A fleet's ledger, read on a host without a daemon. The host does not join the fleet and changes nothing. */
interface FleetToRead {
  /** Closing the ledger closes everything. */
  readonly ledger: Ledger;
  /** The fleet's hosts, read once. */
  readonly fleet: Fleet;
  /** Reads the shared request budget. @returns null if no request was ever made */
  budgetNow(): Promise<BudgetNow | null>;
}

/**
 * Opens a fleet's ledger for reading.
 *
 * @returns null if no host has written anything yet
 * @throws {LedgerError} if the database cannot be used, or has tables of another version
 */
export async function openFleetToRead(world: {
  readonly place: PostgresPlace;
  readonly hostName: string;
  readonly stateDir: string;
  readonly folders: readonly ConfiguredFolder[];
}): Promise<FleetToRead | null> {
  const { place, hostName } = world;
  await using stack = new AsyncDisposableStack();
  const pool = stack.use(await openPool(place, { hostName }));
  const found = await readFoundPlaces(world.stateDir);
  const shared = await sharedFoldersNow(sharedOf(world.folders, found));
  const places = createPlaces(
    hostName,
    () => shared,
    (folder) => `${folder} is not a folder of this host`,
  );
  const rows = await openRowsToRead(pool, { place, hostName, visible: places.visible });
  if (rows === null) return null;
  stack.use(rows);
  const fleet = openFleet(pool, { name: hostName, clock: { now: () => Date.now() } });
  await fleet.hosts();
  const open = stack.move();
  return {
    ledger: { ...inPlaces(rows, places), [Symbol.asyncDispose]: () => open.disposeAsync() },
    fleet,
    budgetNow: () => readSharedBudget(pool.rows, () => performance.now()),
  };
}
