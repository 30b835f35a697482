import { shellWord } from '../shell-word.ts';

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

/** The folder's owners, who must be able to use what the service creates in it. */
export interface Owners {
  /** Name or number for setfacl(1); null: no entry is needed, for example for root. */
  readonly user: string | null;
  readonly group: string | null;
  /** The group's access to the folder, a value of `access`; 0: none. */
  readonly groupAccess: number;
}

/**
 * Returns the command that gives the service access to a directory, and gives its owners access to what the service
 * creates there. `done/` belongs to the service; without entries of their own, the owners could neither list nor remove
 * the files moved there.
 *
 * @param service name and number of the service's user
 */
export function accessCommand(
  service: { readonly name: string; readonly uid: number },
  directory: Directory,
  owners: Owners,
): string {
  const word = shellWord(directory.path);
  const rights = rightsOf(directory.needs);
  // An access control list does not apply to the owner (acl(5)).
  if (directory.uid === service.uid) return `sudo chmod u+${rights} ${word}`;
  if (directory.needs === access.enter) return `sudo setfacl -m u:${service.name}:x ${word}`;
  const entries = [
    `u:${service.name}:${rights}`,
    `d:u:${service.name}:${rights}`,
    ...(directory.needs === access.write ? ownerEntries(directory, owners) : []),
  ];
  // -P: does not follow links that replaced a file before the command runs. d: applies to files created later. X:
  // execute permission only on directories and files that are already executable (setfacl(1)).
  return `sudo setfacl -R -P -m ${entries.map(argument).join(',')} ${word}`;
}

/**
 * Returns the command for a folder that the service uses as a member of its group. It makes files that the service
 * creates there belong to that group (inode(7)).
 *
 * @returns null when the folder is already set up that way
 */
export function groupCommand({ mode, path }: Directory): string | null {
  return (mode & 0o2000) === 0 ? `sudo chmod g+s ${shellWord(path)}` : null;
}

function ownerEntries({ mode }: Directory, { user, group, groupAccess }: Owners): readonly string[] {
  const own = rightsOf(mode >> 6);
  return [
    ...(user === null || own === '' ? [] : [`d:u:${user}:${own}`]),
    ...(group === null || groupAccess === 0 ? [] : [`d:g:${group}:${rightsOf(groupAccess)}`]),
  ];
}

function rightsOf(bits: number): string {
  if (bits === access.enter) return 'x';
  return `${bits & 4 ? 'r' : ''}${bits & 2 ? 'w' : ''}${bits & 1 ? 'X' : ''}`;
}

/** Names from a directory service may contain spaces. */
function argument(entry: string): string {
  return /^[\w.:@-]+$/.test(entry) ? entry : shellWord(entry);
}
