import { FirstStart, createDoubtRows } from '../../intake/first-start.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { createRows } from '../../pipeline/file/rows.ts';
import { isLedgerBehind, recordOf } from '../../watch/root.ts';

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
  const first = new FirstStart({ path: folder, existing: 'upload' }, ledger);
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
