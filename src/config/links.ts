import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Maximum number of links to follow, as in the kernel (path_resolution(7)). */
const mostLinks = 40;

/**
 * Finds the first symbolic link in a path that belongs neither to root nor to the current user. The link's owner
 * chooses its target, which could be another folder that dropcast may read, or dropcast's own state directory.
 *
 * @param path absolute
 * @returns null if there is no such link
 * @throws the system error for a component of the path
 */
export async function linkOfOthers(path: string): Promise<string | null> {
  const names = namesOf(path);
  let here = '/';
  for (let links = 0, name = names.shift(); name !== undefined && links <= mostLinks; name = names.shift()) {
    const next = join(here, name);
    const stats = await lstat(next);
    if (!stats.isSymbolicLink()) {
      here = next;
      continue;
    }
    if (stats.uid !== 0 && stats.uid !== process.geteuid?.()) return next;
    const target = await readlink(next);
    links += 1;
    names.unshift(...namesOf(target));
    if (target.startsWith('/')) here = '/';
  }
  return null;
}

/**
 * Explains why a path is refused and what to do.
 *
 * @param link result of `linkOfOthers`
 */
export function whyRefusedLink(link: string): string {
  return `it leads through the symbolic link ${JSON.stringify(link)}, which belongs to another user; put the path that it leads to in the configuration`;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
