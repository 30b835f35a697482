import { unbound, withoutToken } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Rows } from '../../pipeline/file/rows.ts';
import { suspectsOf } from '../../view/files/suspects.ts';
import type { SuspectLedger } from '../../view/files/suspects.ts';

export type Dismissed = Awaited<ReturnType<typeof dismiss>>;

/**
 * Forgets suspects that a person has dealt with. Deletes nothing on the service.
 *
 * @param names as the list shows them, or `all`
 */
export async function dismiss(
  { ledger, rows }: { readonly ledger: SuspectLedger; readonly rows: Pick<Rows, 'isHeld' | 'claim'> },
  { names }: { readonly names: readonly string[] },
) {
  const { suspects } = await suspectsOf(ledger, { rows });
  const wanted = names.includes('all') ? suspects.map(({ name }) => name) : names;
  const dismissed: string[] = [];
  const refused: { name: string; why: string }[] = [];
  for (const name of wanted) {
    const suspect = suspects.find((each) => each.name === name);
    if (suspect === undefined) refused.push({ name, why: 'unknown: `dropcast suspects` lists the names' });
    else if (
      (await rows.claim(suspect.file, (row) => row.write(without(row.facts, name), `${name} dismissed`))) === null
    )
      refused.push({ name, why: 'busy: a step is working on its file' });
    else dismissed.push(name);
  }
  return { v: 1, dismissed, refused };
}

/** Clears a token or video id from a row. Pure. */
function without(facts: Facts, name: string): Partial<Facts> {
  const asked = withoutToken(facts, name);
  return facts.videoId === name ? { ...unbound, ...asked } : asked;
}
