import { access } from './folder-access.ts';
import type { Directory } from './folder-access.ts';
import { shellWord } from '../shell-word.ts';

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
