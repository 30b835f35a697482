import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The kernel's limit (path_resolution(7)). */
const mostLinks = 40;

/**
 * The first symbolic link in a path that belongs neither to root nor to the user of this process. The owner of such a
 * link chooses its target: another folder that dropcast may read, or dropcast's own state directory.
 *
 * @param path absolute
 * @returns null when there is none
 * @throws the system's error for a part of the path
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

/** Why a path is refused, and what to do. @param link result of `linkOfOthers` */
export function whyRefusedLink(link: string): string {
  return `it leads through the symbolic link ${JSON.stringify(link)}, which belongs to another user; put the path that it leads to in the configuration`;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
