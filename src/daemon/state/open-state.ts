import type { Config } from '../../config/config.ts';
import type { BudgetStore } from '../../host/budget-store.ts';
import { openFailureLog } from '../../ledger/append-log.ts';
import { openLedger } from '../../ledger/ledger.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { CounterRow } from '../../ledger/records.ts';
import { openReceipts } from '../../ledger/receipts.ts';
import type { Logger } from '../../log/logger.ts';
import type { CounterReceipts } from '../../ledger/receipts.ts';
import type { Clock, Receipts } from '../../pipeline/file/ports.ts';
import { packageVersion } from '../../package-files.ts';
import { isAhead } from '../../watch/root-mark.ts';
import type { FleetFolders, MarkCounter } from '../../watch/root-mark.ts';
import { ownBudget } from '../service-connection.ts';
import { lockInstance } from './instance-lock.ts';
import { alone } from './sharing.ts';
import type { Sharing } from './sharing.ts';
import { requireOwnState } from './state-owner.ts';

/** The opened contents of the state directory. */
export interface State extends Rows {
  readonly receipts: Receipts & CounterReceipts;
  readonly failures: Awaited<ReturnType<typeof openFailureLog>>;
}

/** The rows, in a local file or in a database shared with other hosts. */
export interface Rows {
  readonly ledger: Ledger;
  /** Stores the last hour's requests across restarts. */
  readonly budget: BudgetStore;
  /** Reads a fleet's folder marks; null: the ledger is not shared. */
  readonly marks: FleetFolders | null;
  readonly sharing: Sharing;
}

interface StateWorld {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns the current configuration, which a reload may change. */
  config(): Config;
  repaired(what: string): void;
}

/** Opens everything in the state directory, exclusively for this process. */
export async function openState(config: Config, stack: AsyncDisposableStack, world: StateWorld): Promise<State> {
  const { stateDir, file, failureLog } = config;
  // A broken failure log does not stop work: the rows and their history record every failure.
  const broke = (err: unknown): void =>
    world.logger.error('Cannot write to the failure log', { path: failureLog, err });
  await requireOwnState({ stateDir, file });
  stack.use(await lockInstance(stateDir));
  return {
    ...(await openRows(config, stack, world)),
    receipts: stack.use(await openReceipts(stateDir)),
    failures: stack.use(await openFailureLog(failureLog, broke)),
  };
}

/** PostgreSQL code is loaded only if it is used. */
async function openRows(
  config: Config,
  stack: AsyncDisposableStack,
  { clock, logger, repaired, ...world }: StateWorld,
): Promise<Rows> {
  const { stateDir, hostName } = config;
  if (config.ledger === null) {
    const ledger = stack.use(await openLedger(stateDir, repaired, true));
    return { ledger, budget: ownBudget(ledger.budget, clock), marks: null, sharing: alone };
  }
  const { openFleet } = await import('../../fleet/open-fleet.ts');
  const fleet = await openFleet({
    place: config.ledger,
    stateDir,
    hostName,
    version: await packageVersion(),
    config: world.config,
    clock,
    logger,
    repaired,
  });
  return stack.use(fleet);
}

/**
 * The counter that is compared with the marks of the watched folders. The receipts store it too: a ledger restored from
 * a backup catches up from them, and is then no older than its folders.
 */
export function markCounter(row: CounterRow, receipts: CounterReceipts): MarkCounter {
  let known = -1;
  const load = async (): Promise<void> => {
    known = Math.max(known, await row.load());
  };
  return {
    current: async () => {
      if (known < 0) await load();
      return known;
    },
    // Reloads the counter before believing a mark that is ahead, because other fleet hosts advance it as well.
    isBehind: async (mark) => {
      if (mark > known) await load();
      return isAhead(mark, known);
    },
    advance: async (atLeast = 0) => {
      const next = await row.advance(Math.max(atLeast, known));
      await receipts.note(next);
      known = Math.max(known, next);
      return next;
    },
  };
}
