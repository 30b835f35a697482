import type { ServiceUser } from './accounts.ts';

/** Bits of a mode, for one of owner, group and others. */
export const access = { enter: 1, read: 5, write: 7 } as const;

/** A directory on the way to a folder, or the folder itself, as `stat` shows it. */
export interface Directory {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** What the service needs to do there, of `access`. */
  readonly needs: number;
}

/** What stands between the service and a folder. */
export interface AccessPlan {
  /** Groups that make up for it. */
  readonly gids: readonly number[];
  /** Directories that no group opens. */
  readonly closed: readonly Directory[];
}

/**
 * Which groups the service must be in to use all of these directories. Group 0 is never one of them: too much belongs to it.
 * What access control lists allow beyond the modes is not seen here.
 */
export function planAccess(user: ServiceUser, directories: readonly Directory[]): AccessPlan {
  const gids = new Set(user.gids);
  const closed: Directory[] = [];
  for (const directory of directories) {
    if (isOpen(directory, user.uid, gids)) continue;
    const { uid, gid, mode, needs } = directory;
    if (gid === 0 || uid === user.uid || gids.has(gid) || !hasBits(mode >> 3, needs)) closed.push(directory);
    else gids.add(gid);
  }
  return { gids: [...gids].filter((gid) => !user.gids.has(gid)), closed };
}

/** Only the first class that fits counts: an owner without rights is not helped by those of others (path_resolution(7)). */
function isOpen({ mode, uid, gid, needs }: Directory, user: number, gids: ReadonlySet<number>): boolean {
  if (uid === user) return hasBits(mode >> 6, needs);
  return hasBits(gids.has(gid) ? mode >> 3 : mode, needs);
}

function hasBits(mode: number, needs: number): boolean {
  return (mode & needs) === needs;
}
