import { filesAddress, queryOf } from '../files/address.ts';
import { manyOf } from '../views/many.ts';
import type { PageWorld, Sent } from '../world.ts';

/** Does with many files what the page before has asked about. Its address says which. @throws {PageError} see `manyOf` */
export async function actOnMany({ daemon, now }: PageWorld, { query }: Sent): Promise<string> {
  const { command, selection } = manyOf(query, now);
  await command.run(daemon, selection, {});
  return filesAddress(queryOf(query));
}
