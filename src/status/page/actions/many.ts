import { filesAddress, queryOf } from '../files/address.ts';
import { digestOf } from '../files/bulk-commands.ts';
import { noticeWords } from '../files/notice.ts';
import { manyOf } from '../views/many.ts';
import type { PageWorld, Sent } from '../world.ts';

/**
 * Does with many files what the page before has asked about, and says how that went. Its address says which. When it concerns other files
 * by now, nothing is done, and the page asks again.
 *
 * @throws {PageError} see `manyOf`
 */
export async function actOnMany({ daemon, now, outcomes }: PageWorld, { query, form }: Sent): Promise<string> {
  const { command, wanted } = manyOf(query, now);
  const confirmed = form.get('files') ?? '';
  const planned = await command.run(daemon, wanted, { isPlanned: true });
  if (String(planned.files) !== confirmed || digestOf(planned) !== form.get('these')) {
    const again = new URLSearchParams([...query].filter(([word]) => word !== 'was'));
    if (/^\d{1,9}$/.test(confirmed)) again.set('was', confirmed);
    return `/files/many?${again.toString()}`;
  }
  const result = await command.run(daemon, wanted, {});
  const pathOf = async (id: string): Promise<string | null> => {
    const facts = await daemon.ledger.load(id);
    return facts && `${facts.folder}/${facts.path}`;
  };
  return filesAddress(queryOf(query), {
    ...noticeWords(command.name, result),
    outcome: await outcomes.keep(result, pathOf),
  });
}
