import { retry } from '../../../daemon/retry.ts';
import { fileAddress } from '../files/address.ts';
import { PageError } from '../world.ts';
import type { PageWorld, Sent } from '../world.ts';

/** Tries one file again. @throws {PageError} 409 with the reason why it cannot be */
export async function retryFile({ daemon }: PageWorld, { part }: Sent): Promise<string> {
  const id = part('id');
  const { refused } = await retry(daemon, { names: [id], states: [] });
  const [first] = refused;
  if (first !== undefined) throw new PageError(409, `The file was not retried: ${first.why}`);
  return fileAddress(id);
}

/** Leaves one file alone. @throws {PageError} 409 when its state does not allow it */
export async function ignoreFile({ daemon }: PageWorld, { part }: Sent): Promise<string> {
  const id = part('id');
  const applied = await daemon.conductor.apply(id, { type: 'IGNORE', by: 'on the page' });
  if (applied === 'busy') throw new PageError(409, 'A step is working on the file: try again in a moment.');
  if (applied === 'ignored')
    throw new PageError(409, 'The file is done, or its bytes are on the service: there is nothing to ignore.');
  return fileAddress(id);
}
