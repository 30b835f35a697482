import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** As in the kernel (path_resolution(7)). */
const mostLinks = 40;

/**
 * The first symbolic link on the way to a path that belongs neither to root nor to the user this process runs as. Whoever owns one chooses
 * what is at its end: another folder that dropcast may read, or dropcast's own state directory.
 *
 * @param path absolute
 * @returns null when there is none
 * @throws what the system says about a part of the way
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

/** Why a path is refused, and what to do. @param link what `linkOfOthers` found */
export function whyRefusedLink(link: string): string {
  return `it leads through the symbolic link ${JSON.stringify(link)}, which belongs to another user; put the path that it leads to in the configuration`;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
