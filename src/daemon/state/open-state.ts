import type { Config } from '../../config/config.ts';
import type { BudgetStore } from '../../host/budget-store.ts';
import { openFailureLog } from '../../ledger/failure-log.ts';
import { openLedger } from '../../ledger/ledger.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openReceipts } from '../../ledger/receipts.ts';
import type { Member } from '../../fleet/hosts.ts';
import type { OpenFleet } from '../../fleet/open-fleet.ts';
import type { Places } from '../../fleet/places.ts';
import type { Logger } from '../../log/logger.ts';
import type { CounterReceipts } from '../../ledger/receipts.ts';
import type { Clock, Receipts } from '../../pipeline/file/ports.ts';
import { alwaysOurs } from '../../pipeline/rounds/turn.ts';
import type { Turn } from '../../pipeline/rounds/turn.ts';
import { packageVersion } from '../../package-files.ts';
import { ownBudget } from '../service-connection.ts';
import { lockInstance } from './instance-lock.ts';
import { requireOwnState } from './state-owner.ts';

/** What lies in the state directory, open. */
export interface State {
  readonly ledger: Ledger;
  readonly receipts: Receipts & CounterReceipts;
  /** Where the requests of the last hour survive a restart. */
  readonly budget: BudgetStore;
  readonly failures: Awaited<ReturnType<typeof openFailureLog>>;
  /** Whether this host does what only one may do. */
  readonly turn: Turn;
  /** Tells what other hosts did. */
  readonly listen: OpenFleet['listen'];
  /** Null: this host has its ledger for itself. */
  readonly fleet: Member | null;
  /** What the folders of a fleet are called; null: this host has its ledger for itself. */
  readonly places: Places | null;
}

interface StateWorld {
  readonly clock: Clock;
  readonly logger: Logger;
  /** As it now is: a reload may change it. */
  config(): Config;
  repaired(what: string): void;
  failureLogBroke(error: unknown): void;
}

/** Everything in the state directory, by this process alone. */
export async function openState(config: Config, stack: AsyncDisposableStack, world: StateWorld): Promise<State> {
  const { stateDir, file, failureLog } = config;
  await requireOwnState({ stateDir, file });
  stack.use(await lockInstance(stateDir));
  return {
    ...(await openRows(config, stack, world)),
    receipts: stack.use(await openReceipts(stateDir)),
    failures: stack.use(await openFailureLog(failureLog, world.failureLogBroke)),
  };
}

/** In a file of its own, or with those of other hosts. PostgreSQL is loaded only where it is used. */
async function openRows(
  config: Config,
  stack: AsyncDisposableStack,
  { clock, logger, repaired, ...world }: StateWorld,
): Promise<Omit<State, 'receipts' | 'failures'>> {
  const { stateDir, hostName } = config;
  if (config.ledger === null) {
    const ledger = stack.use(await openLedger(stateDir, repaired, true));
    return {
      ledger,
      budget: ownBudget(ledger.budget, clock),
      turn: alwaysOurs,
      listen: () => undefined,
      fleet: null,
      places: null,
    };
  }
  const { openFleet } = await import('../../fleet/open-fleet.ts');
  const fleet = await openFleet({
    place: config.ledger,
    stateDir,
    hostName,
    version: await packageVersion(),
    folders: () => world.config().folders,
    clock,
    logger,
    repaired,
  });
  stack.use(fleet);
  const { ledger, budget, turn, listen, member, places } = fleet;
  return { ledger, budget, turn, listen, fleet: member, places };
}
