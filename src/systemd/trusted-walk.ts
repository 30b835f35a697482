import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { open, readlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { UnitError } from './unit-text.ts';

/** A directory on the way to a path, or the path's final entry. */
export interface Waypoint {
  /** Absolute path without links. */
  readonly path: string;
  readonly stats: Stats;
}

/**
 * O_PATH in open(2), for which Node has no constant. Opens without reading, so it never blocks and needs no permission
 * on the file.
 */
const O_PATH = 0o10000000;

/** S_ISVTX in inode(7). */
const STICKY = 0o1000;

/** Maximum number of links followed, as in the kernel (path_resolution(7)). */
const MOST_LINKS = 40;

/**
 * Walks to a path, name by name, and follows only links that root alone can change. The result determines, with root's
 * authority, what the unit may access. A user who could change a link on the way would choose the service's directory,
 * groups and mounts.
 *
 * Each step goes through the descriptor of the previous directory (`/proc/self/fd/N/name`), so the result is a route
 * that really existed, even if directories are renamed during the walk.
 *
 * @param path absolute and normalised
 * @returns from `/` to the end; null when the path does not exist or is not accessible to this process
 * @throws {UnitError} for a link that others can change
 */
export async function trustedWalk(path: string): Promise<readonly Waypoint[] | null> {
  await using handles = new AsyncDisposableStack();
  const enter = async (at: string, shown: string): Promise<Step> => {
    const handle = handles.use(await open(at, O_PATH | constants.O_NOFOLLOW));
    return { path: shown, handle, stats: await handle.stat() };
  };
  try {
    const way = [await enter('/', '/')];
    const names = namesOf(path);
    for (let links = 0, name = names.shift(); name !== undefined; name = names.shift()) {
      const step = await take(way, name, enter);
      if (step === null) continue;
      if (!step.stats.isSymbolicLink()) way.push(step);
      else if ((links += 1) > MOST_LINKS) return null;
      else names.unshift(...(await follow(way, step, path)));
    }
    return way.map(({ path, stats }) => ({ path, stats }));
  } catch (error) {
    if (error instanceof UnitError) throw error;
    return null;
  }
}

interface Step extends Waypoint {
  readonly handle: FileHandle;
}

/** Takes one step along the path; `..` in a link's target goes one step back. */
async function take(
  way: Step[],
  name: string,
  enter: (at: string, shown: string) => Promise<Step>,
): Promise<Step | null> {
  if (name === '..') {
    if (way.length > 1) way.pop();
    return null;
  }
  const here = way.at(-1) as Step;
  return enter(`/proc/self/fd/${here.handle.fd}/${name}`, join(here.path, name));
}

/** Returns the names in a link's target. An absolute target restarts at the root. */
async function follow(way: Step[], link: Step, path: string): Promise<readonly string[]> {
  if (!isOurs(link.stats) || !way.every((step) => isKept(step.stats)))
    throw new UnitError(
      `${JSON.stringify(path)} leads through the symbolic link ${JSON.stringify(link.path)}, which users other than root can change; check where it leads and write that path into the configuration`,
    );
  const here = way.at(-1) as Step;
  const target = await readlink(`/proc/self/fd/${here.handle.fd}/${link.path.slice(link.path.lastIndexOf('/') + 1)}`);
  if (target.startsWith('/')) way.splice(1);
  return namesOf(target);
}

/**
 * Whether only root can rename or replace root's entries in this directory. With an access control list, the group bits
 * are its mask, so they include other users' permissions (acl(5)). In a sticky directory everybody may write, but only
 * the owner may replace an entry.
 */
function isKept(stats: Stats): boolean {
  return isOurs(stats) && ((stats.mode & 0o022) === 0 || (stats.mode & STICKY) !== 0);
}

/** Whether the owner is root, or the user running this command to see what root would get. */
function isOurs({ uid }: Stats): boolean {
  return uid === 0 || uid === process.geteuid?.();
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
