import type { Facts } from '../../pipeline/file/facts.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import { viewOf } from './file-view.ts';
import type { FileView } from './file-view.ts';

const mostRows = 1_000_000;

/**
 * What earlier runs left in the folders and only a person can settle: files that failed or are held, oldest first, then those that
 * cannot be deleted or moved.
 *
 * @param still.folders those that are watched
 * @param still.before epoch milliseconds: what ended later belongs to this run
 * @param isThere whether something still lies at that path of a folder
 */
export async function leftForYou(
  ledger: RowStore<'any' | 'waiting for disk'>,
  still: { readonly folders: readonly string[]; readonly before: number },
  isThere: (folder: string, path: string) => Promise<boolean>,
): Promise<readonly FileView[]> {
  const isEarlier = ({ endedAt, folder }: Facts): boolean =>
    (endedAt ?? 0) < still.before && still.folders.includes(folder);
  const rows = await ledger.rows({ group: 'any', states: ['failed', 'held'], limit: mostRows });
  const left: Facts[] = [];
  for (const facts of rows.filter(isEarlier)) if (await isThere(facts.folder, facts.path)) left.push(facts);
  const waiting = await ledger.rows({ group: 'waiting for disk', limit: mostRows });
  return [...left, ...waiting.filter(isEarlier).toReversed()].map((facts) => viewOf(null, facts));
}
