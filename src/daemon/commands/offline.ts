import type { Config } from '../../config/config.ts';
import { createFirstStart, createDoubtRows } from '../../intake/first-start.ts';
import { openLedger } from '../../ledger/ledger.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import { decide } from '../../pipeline/file/machine.ts';
import { createRows } from '../../pipeline/file/rows.ts';
import { isLedgerBehind, recordOf } from '../../watch/root.ts';
import { lockInstance } from '../state/instance-lock.ts';
import { requireOwnState } from '../state/state-owner.ts';
import { confirmAdoption } from './adopt.ts';
import type { Confirmed } from './adopt.ts';

/**
 * Records, while no daemon is running, an operator's answer about a folder whose ledger is an older copy. The next
 * start applies it.
 *
 * @param answer.folder absolute, and watched
 * @param answer.others the other watched folders, which need answers of their own: this answer advances the ledger
 * @param answer.isAdopted true: all files in the folder were uploaded; false: upload those that the ledger does not
 *   know
 * @returns false when the ledger is not older; nothing was changed
 */
export async function answerOffline(
  ledger: Ledger,
  {
    folder,
    others,
    isAdopted,
  }: { readonly folder: string; readonly others: readonly string[]; readonly isAdopted: boolean },
): Promise<boolean> {
  if (!(await isLedgerBehind(folder, ledger))) return false;
  const first = createFirstStart({ path: folder, existing: 'upload' }, ledger);
  await (isAdopted ? first.adopt() : first.doNotAdopt());
  const rows = createRows({ store: ledger, events: { emit: () => undefined } });
  await createDoubtRows({ selection: ledger.selection, rows, now: Date.now })(folder, isAdopted);
  for (const other of others) {
    const record = recordOf(await ledger.roots.load(other));
    if (record?.doubt?.is !== 'resumed' && (await isLedgerBehind(other, ledger)))
      await ledger.roots.save(other, { identity: null, ...record, doubt: { is: 'older' } });
  }
  return true;
}

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
