/** Mode bits of one class: owner, group or others. */
export const access = { enter: 1, read: 5, write: 7 } as const;

/** A directory on the way to a folder, or the folder itself, as `stat` shows it. */
export interface Directory {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Access that the service needs there, a value of `access`. */
  readonly needs: number;
}

/** Who asks for access: a user with all its groups. */
export interface Credentials {
  readonly uid: number;
  readonly gids: ReadonlySet<number>;
}

/** Whether a user has the access that a directory needs; directories above it do not count. */
export type Allows = (who: Credentials, directory: Directory) => Promise<boolean>;

/** What gives the service access to a folder. */
export interface AccessPlan {
  /** Groups that the service must join. */
  readonly gids: readonly number[];
  /** Directories that no group gives access to. */
  readonly closed: readonly Directory[];
}

/**
 * Finds the groups that the service must join to use all of these directories: only groups that open a directory
 * otherwise closed.
 *
 * @param user the service's user with its present groups
 * @param directories from the outermost inwards
 * @param policy `allows` decides about one directory, by its mode or by asking the kernel; `isJoinable` about a group
 */
export async function planAccess(
  user: Credentials,
  directories: readonly Directory[],
  { allows, isJoinable }: { readonly allows: Allows; readonly isJoinable: (gid: number) => boolean },
): Promise<AccessPlan> {
  let gids = user.gids;
  const closed: Directory[] = [];
  for (const directory of directories) {
    if (await allows({ uid: user.uid, gids }, directory)) continue;
    const more = new Set([...gids, directory.gid]);
    const isHelped =
      isJoinable(directory.gid) && more.size > gids.size && (await allows({ uid: user.uid, gids: more }, directory));
    if (isHelped) gids = more;
    else closed.push(directory);
  }
  return { gids: [...gids].filter((gid) => !user.gids.has(gid)), closed };
}

/**
 * Access by the mode alone: with an access control list the group bits are its mask, not the rights of the group
 * (acl(5)). Only the first matching class counts: rights of others do not help an owner without rights
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
