import type { Config } from '../../config/config.ts';
import { openFailureLog } from '../../ledger/failure-log.ts';
import { openLedger } from '../../ledger/ledger.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openReceipts } from '../../ledger/receipts.ts';
import type { Receipts } from '../../pipeline/file/ports.ts';
import { lockInstance } from './instance-lock.ts';
import { requireOwnState } from './state-owner.ts';

/** What lies in the state directory, open. */
export interface State {
  readonly ledger: Ledger;
  readonly receipts: Receipts;
  readonly failures: Awaited<ReturnType<typeof openFailureLog>>;
}

/** Everything in the state directory, by this process alone. */
export async function openState(
  { stateDir, file, failureLog }: Config,
  stack: AsyncDisposableStack,
  on: { readonly repaired: (what: string) => void; readonly failureLogBroke: (error: unknown) => void },
): Promise<State> {
  await requireOwnState({ stateDir, file });
  stack.use(await lockInstance(stateDir));
  return {
    ledger: stack.use(await openLedger(stateDir, on.repaired, true)),
    receipts: stack.use(await openReceipts(stateDir)),
    failures: stack.use(await openFailureLog(failureLog, on.failureLogBroke)),
  };
}
