import type { Config } from '../../config/config.ts';
import { openLedger } from '../../ledger/ledger.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import { decide } from '../../pipeline/file/machine.ts';
import { createRows } from '../../pipeline/file/rows.ts';
import { confirmAdoption } from './adoption.ts';
import type { Confirmed } from './adoption.ts';
import { lockInstance } from '../state/instance-lock.ts';
import { requireOwnState } from '../state/state-owner.ts';

/**
 * Confirms an adoption while no daemon is running, without the service. The next `run` or `once` uploads what the
 * service lacks.
 *
 * @throws {AlreadyRunningError} another dropcast uses the state directory
 * @throws {LedgerError} the ledger cannot be used
 */
export async function confirmOffline({ stateDir, file }: Pick<Config, 'stateDir' | 'file'>): Promise<Confirmed> {
  await requireOwnState({ stateDir, file });
  await using stack = new AsyncDisposableStack();
  stack.use(await lockInstance(stateDir));
  const ledger = stack.use(await openLedger(stateDir));
  const rows = createRows({ store: ledger, events: { emit: () => undefined } });
  const policy = { attempts: 1, retryAt: () => 0, now: () => Date.now() };
  return await confirmAdoption(ledger, async (id, event) => {
    const isChanged = await rows.claim(id, async (row) => {
      const { facts } = row;
      const note = event.type === 'ADOPTED' ? `already on the service: video ${event.videoId}` : 'uploaded: confirmed';
      return (await row.write(decide(stateOf(facts), { facts, policy }, event).facts, note)) !== facts;
    });
    return isChanged === true ? 'applied' : 'ignored';
  });
}
