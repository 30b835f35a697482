import type { BudgetNow } from '../host/budget-store.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openRowsToRead } from './postgres/open.ts';
import type { PostgresPlace } from './postgres/place.ts';
import { openPool } from './postgres/pool.ts';
import type { Fleet } from '../view/hosts/fleet-view.ts';
import { readFoundPlaces, sharedOf } from './found-places.ts';
import type { ConfiguredFolder } from './found-places.ts';
import { inPlaces } from './in-places.ts';
import { openFleet } from './open-member.ts';
import { createPlaces } from './places.ts';
import { readSharedBudget } from './shared-budget.ts';
import { sharedFoldersNow } from './shared-folders.ts';

/** A fleet's ledger, read on a host without a daemon. The host does not join the fleet and changes nothing. */
export interface FleetToRead {
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
