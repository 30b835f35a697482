import { filesAddress, queryOf } from '../files/address.ts';
import { noticeWords } from '../files/notice.ts';
import { manyOf } from '../views/many.ts';
import type { PageWorld, Sent } from '../world.ts';

/** Does with many files what the page before has asked about, and says how that went. Its address says which. @throws {PageError} see `manyOf` */
export async function actOnMany({ daemon, now }: PageWorld, { query }: Sent): Promise<string> {
  const { command, wanted } = manyOf(query, now);
  const result = await command.run(daemon, wanted, {});
  return filesAddress(queryOf(query), noticeWords(command.name, result));
}
