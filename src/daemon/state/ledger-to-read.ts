import { uptime } from 'node:os';
import type { Config, FolderConfig } from '../../config/config.ts';
import type { Fleet } from '../../view/hosts/fleet-view.ts';
import { budgetTime } from '../../host/budget-store.ts';
import type { BudgetNow, OwnWindow } from '../../host/budget-store.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import { isLedgerThere } from '../../ledger/sqlite/recovery.ts';

/** Which ledger it is, and how this host names what is in it. */
export type LedgerPlace = Pick<Config, 'stateDir' | 'ledger' | 'hostName'> & {
  readonly folders: readonly Pick<FolderConfig, 'path' | 'share'>[];
};

/** For commands that only look, while no daemon runs on this host. */
export interface LedgerToRead extends Ledger {
  /** The hosts that have the same ledger; null: this one has it for itself. */
  readonly fleet: Fleet | null;
  /** @returns null when no request was ever made */
  budgetNow(): Promise<BudgetNow | null>;
}

/**
 * Opens the ledger that the configuration names. What a store needs is loaded only where there is one to read: kysely
 * takes 80 ms of CPU.
 *
 * @returns null when nothing was ever written
 * @throws {LedgerError} it cannot be used
 */
export async function openLedgerToRead(place: LedgerPlace): Promise<LedgerToRead | null> {
  const { stateDir, ledger: database, hostName, folders } = place;
  if (database !== null) {
    if (database.unread !== null) throw new LedgerError(`the ledger cannot be opened: ${database.unread}`);
    const { openFleetToRead } = await import('../../fleet/read-fleet.ts');
    const found = await openFleetToRead({ place: database, hostName, stateDir, folders });
    return found && { ...found.ledger, fleet: found.fleet, budgetNow: found.budgetNow };
  }
  if (!(await isLedgerThere(stateDir))) return null;
  const { openExistingLedger } = await import('../../ledger/ledger.ts');
  const ledger = await openExistingLedger(stateDir);
  return ledger && { ...ledger, fleet: null, budgetNow: async () => ownBudgetNow(await ledger.budget.load()) };
}

function ownBudgetNow(stored: unknown): BudgetNow | null {
  const window = stored as OwnWindow | null;
  return window && { window, now: budgetTime(window, Date.now(), uptime() * 1_000) };
}
