import { uptime } from 'node:os';
import type { Config, FolderConfig } from '../../config/config.ts';
import type { Fleet } from '../../view/hosts/fleet-view.ts';
import { budgetTime } from '../../host/budget-store.ts';
import type { BudgetNow, OwnWindow } from '../../host/budget-store.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import { isLedgerThere } from '../../ledger/sqlite/recovery.ts';

/** Locates the ledger and maps its paths to this host's folders. */
export type LedgerPlace = Pick<Config, 'stateDir' | 'ledger' | 'hostName'> & {
  readonly folders: readonly Pick<FolderConfig, 'path' | 'share'>[];
};

/** A ledger for read-only commands, while no daemon is running on this host. */
export interface LedgerToRead extends Ledger {
  /** The hosts that share the ledger; null: not shared. */
  readonly fleet: Fleet | null;
  /** @returns null if no request was ever made */
  budgetNow(): Promise<BudgetNow | null>;
}

/**
 * Opens the configured ledger. The store's libraries are loaded only if there is a ledger to read: loading kysely takes
 * 80 ms of CPU.
 *
 * @returns null if nothing was ever written
 * @throws {LedgerError} the ledger cannot be used
 */
export async function openLedgerToRead(place: LedgerPlace): Promise<LedgerToRead | null> {
  const { stateDir, ledger: database, hostName, folders } = place;
  if (database !== null) {
    if (database.unread !== null) throw new LedgerError(`the ledger cannot be opened: ${database.unread}`);
    const { openFleetToRead } = await import('../../fleet/open-member.ts');
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
