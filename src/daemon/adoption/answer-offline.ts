import { FirstStart } from '../../intake/first-start.ts';
import { createDoubtRows } from '../../intake/older-ledger.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { createRows } from '../../pipeline/file/rows.ts';
import { recordOf } from '../../watch/root-memory.ts';
import { whyLedgerBehind } from '../../watch/root-preview.ts';
import { folderOwner } from '../../watch/root-owner.ts';

/**
 * An operator's answer about a folder whose ledger is an older copy, while no daemon runs: the next start applies it.
 *
 * @param answer.folder absolute, and watched
 * @param answer.others the other watched folders: the answer advances the ledger, and they wait for answers of their own
 * @param answer.isAdopted all files in it were uploaded; else those are uploaded that the ledger does not know
 * @returns false when the ledger is not older: nothing was changed
 */
export async function answerOffline(
  { stateDir, ledger }: { readonly stateDir: string; readonly ledger: Ledger },
  {
    folder,
    others,
    isAdopted,
  }: { readonly folder: string; readonly others: readonly string[]; readonly isAdopted: boolean },
): Promise<boolean> {
  const { roots, counter } = ledger;
  const owner = await folderOwner(stateDir, ledger.id);
  const isBehind = async (path: string): Promise<boolean> =>
    (await whyLedgerBehind(path, { roots, owner, counter })) !== null;
  if (!(await isBehind(folder))) return false;
  const first = new FirstStart({ path: folder, existing: 'upload' }, ledger);
  await (isAdopted ? first.adopt() : first.doNotAdopt());
  const rows = createRows({ store: ledger, events: { emit: () => undefined } });
  await createDoubtRows({ selection: ledger.selection, rows, now: Date.now })(folder, isAdopted);
  for (const other of others) {
    const record = recordOf(await roots.load(other));
    if (record?.doubt?.is !== 'resumed' && (await isBehind(other)))
      await roots.save(other, { identity: null, ...record, doubt: { is: 'older' } });
  }
  return true;
}
