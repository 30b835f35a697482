import { ignore } from '../../../daemon/commands/ignore.ts';
import { retry } from '../../../daemon/commands/retry.ts';
import type { CommandResult } from '../../../daemon/commands/wanted.ts';
import { fileAddress } from '../files/address.ts';
import { BY_THE_PAGE } from '../files/bulk-commands.ts';
import { PageError } from '../world.ts';
import type { PageWorld, Sent } from '../world.ts';

/** Tries one file again. @throws {PageError} 409 with the reason why it cannot be */
export async function retryFile({ daemon }: PageWorld, { part }: Sent): Promise<string> {
  const id = part('id');
  requireDone('retried', await retry(daemon, { names: [id] }));
  return fileAddress(id);
}

/** Leaves one file alone. @throws {PageError} 409 with the reason why it cannot be */
export async function ignoreFile({ daemon }: PageWorld, { part }: Sent): Promise<string> {
  const id = part('id');
  requireDone('ignored', await ignore(daemon, { names: [id], by: BY_THE_PAGE }));
  return fileAddress(id);
}

function requireDone(deed: string, { refused: [refusal], left: [left] }: CommandResult): void {
  const why = refusal?.why ?? left?.why;
  if (why !== undefined) throw new PageError(409, `The file was not ${deed}: ${why}`);
}
