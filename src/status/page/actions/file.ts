import { ignore } from '../../../daemon/commands/ignore.ts';
import { retry } from '../../../daemon/commands/retry.ts';
import type { CommandResult } from '../../../daemon/commands/wanted.ts';
import { fileAddress } from '../files/address.ts';
import { byPage } from '../files/bulk-commands.ts';
import { PageError } from '../world.ts';
import type { Action } from '../world.ts';

/** Tries one file again. @throws {PageError} 409 with the reason why it cannot be */
export const retryFile: Action = ({ daemon }, { part }) => done(part('id'), retry(daemon, { names: [part('id')] }));

/** Leaves one file alone. @throws {PageError} 409 with the reason why it cannot be */
export const ignoreFile: Action = ({ daemon }, { part }) =>
  done(part('id'), ignore(daemon, { names: [part('id')], by: byPage }));

/** Takes a file up again that was ignored. @throws {PageError} 409 with the reason why it cannot be */
export const unignoreFile: Action = ({ daemon }, { part }) =>
  done(part('id'), ignore(daemon, { names: [part('id')], by: byPage, isUndone: true }));

async function done(id: string, result: Promise<Pick<CommandResult, 'refused'>>): Promise<string> {
  const [refused] = (await result).refused;
  if (refused !== undefined) throw new PageError(409, `Nothing was done: ${refused.why}.`);
  return fileAddress(id);
}
