import type { Config } from '../../config/config.ts';
import type { Facts } from '../../pipeline/file/facts.ts';

/**
 * Returns the names of the targets that are notified about a file because of its folder, its rule or its owner. A rule
 * replaces what its folder says. Pure.
 */
export function recipientsOf(
  { folders }: Pick<Config, 'folders'>,
  { folder: path, plan, owner }: Pick<Facts, 'folder' | 'plan' | 'owner'>,
): readonly string[] {
  const folder = folders.find((each) => each.path === path);
  const people = folder?.rules.find(({ key }) => key === plan?.rule)?.notify ?? folder?.notify;
  if (people === undefined) return [];
  const own = owner !== null && Object.hasOwn(people.owners, owner) ? people.owners[owner] : undefined;
  return own === undefined ? people.others : [own];
}
