import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { open, readlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { UnitError } from './unit-error.ts';

/** A directory on the way to a path, or what is at its end. */
export interface Waypoint {
  /** Absolute, without links. */
  readonly path: string;
  readonly stats: Stats;
}

/**
 * O_PATH of open(2), which Node does not name: opens without reading, so it blocks on nothing and needs no permission
 * for the file.
 */
const O_PATH = 0o10000000;

/** S_ISVTX of inode(7). */
const STICKY = 0o1000;

/** As in the kernel (path_resolution(7)). */
const MOST_LINKS = 40;

/**
 * Walks to a path, name by name, and follows only links that root alone can change. This walk decides, as root, what
 * the unit gets: a user who could change a link on the way would choose the directory, the groups and the mounts of the
 * service.
 *
 * Each step goes through the descriptor of the directory before it (`/proc/self/fd/N/name`), so the result is a way
 * that existed, even when directories are renamed during the walk.
 *
 * @param path absolute and normalised
 * @returns from `/` to the end; null when it does not exist, or this process may not go there
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

/** One name further; `..` of a link's target goes one step back. */
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

/** The names that a link leads to. An absolute target starts again at the root. */
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
 * Whether only root can rename or replace what root has in this directory. With an access control list the group bits
 * are its mask, so rights of other users show there too (acl(5)). In a sticky directory everybody may write, but only
 * the owner may replace an entry.
 */
function isKept(stats: Stats): boolean {
  return isOurs(stats) && ((stats.mode & 0o022) === 0 || (stats.mode & STICKY) !== 0);
}

/** Root, and a user who runs this to see what root would get. */
function isOurs({ uid }: Stats): boolean {
  return uid === 0 || uid === process.geteuid?.();
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
