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

/** Whoever asks for access: a user, and all groups it is in. */
export interface Credentials {
  readonly uid: number;
  readonly gids: ReadonlySet<number>;
}

/** Whether somebody may do in a directory what is needed there; what is above it does not count. */
export type Allows = (who: Credentials, directory: Directory) => Promise<boolean>;

/** What stands between the service and a folder. */
export interface AccessPlan {
  /** Groups that make up for it. */
  readonly gids: readonly number[];
  /** Directories that no group opens. */
  readonly closed: readonly Directory[];
}

/**
 * Which groups the service must be in to use all of these directories: only those without which one of them is closed, and with
 * which it is open. Group 0 is never one of them: too much belongs to it.
 */
export async function planAccess(
  user: Credentials,
  directories: readonly Directory[],
  allows: Allows,
): Promise<AccessPlan> {
  let gids = user.gids;
  const closed: Directory[] = [];
  for (const directory of directories) {
    if (await allows({ uid: user.uid, gids }, directory)) continue;
    const more = new Set([...gids, directory.gid]);
    const isHelped =
      directory.gid !== 0 && more.size > gids.size && (await allows({ uid: user.uid, gids: more }, directory));
    if (isHelped) gids = more;
    else closed.push(directory);
  }
  return { gids: [...gids].filter((gid) => !user.gids.has(gid)), closed };
}

/**
 * What the mode says, which is not all: with an access control list the bits of the group are its mask, and no longer the
 * rights of the group (acl(5)). Only the first class that fits counts: an owner without rights is not helped by those of others
 * (path_resolution(7)).
 */
export function isOpenByMode({ uid, gids }: Credentials, directory: Directory): boolean {
  const { mode, needs } = directory;
  if (directory.uid === uid) return hasBits(mode >> 6, needs);
  return hasBits(gids.has(directory.gid) ? mode >> 3 : mode, needs);
}

function hasBits(mode: number, needs: number): boolean {
  return (mode & needs) === needs;
}
