/** Mode bits of one class: owner, group or others. */
export const access = { enter: 1, read: 5, write: 7 } as const;

/** A folder or one of its parent directories, as `stat` shows it. */
export interface Directory {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Access that the service needs to the directory, a value of `access`. */
  readonly needs: number;
}

/** A user with all its groups. */
export interface Credentials {
  readonly uid: number;
  readonly gids: ReadonlySet<number>;
}

/** Whether a user has the access that a directory needs. Ignores the directories above it. */
export type Allows = (who: Credentials, directory: Directory) => Promise<boolean>;

/** How the service can get access to a folder. */
export interface AccessPlan {
  /** Groups that the service must join. */
  readonly gids: readonly number[];
  /** Directories that no group makes accessible. */
  readonly closed: readonly Directory[];
}

/**
 * Finds the groups that the service must join to use all of these directories. Includes only groups that open a
 * directory which is otherwise closed.
 *
 * @param user the service's user with its current groups
 * @param directories from the outermost inwards
 * @param policy `allows` decides on access to one directory, by its mode or by asking the kernel; `isJoinable` decides
 *   on a group
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
 * Whether the mode alone gives access. With an access control list, the group bits are its mask, not the group's
 * permissions (acl(5)). Only the first matching class counts: permissions for others do not help an owner without any
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
