import { access } from './folder-access.ts';
import type { Directory } from './folder-access.ts';

/** Whose folder it is: those who must be able to use what the service makes in it. */
export interface Owners {
  /** As setfacl(1) takes them, a name or a number; null where it needs no help, like root. */
  readonly user: string | null;
  readonly group: string | null;
  /** What the group may do in the folder, of `access`; 0 is nothing. */
  readonly groupAccess: number;
}

/**
 * The command that opens a directory to the service, and what the service makes in it to its owners: `done/` belongs to the
 * service, and with rights for the service alone its owner could neither list nor remove what was moved there.
 *
 * @param service its name and number
 */
export function accessCommand(
  service: { readonly name: string; readonly uid: number },
  directory: Directory,
  owners: Owners,
): string {
  const word = shellWord(directory.path);
  const rights = rightsOf(directory.needs);
  // Of an access control list its owner takes nothing (acl(5)).
  if (directory.uid === service.uid) return `sudo chmod u+${rights} ${word}`;
  if (directory.needs === access.enter) return `sudo setfacl -m u:${service.name}:x ${word}`;
  const entries = [
    `u:${service.name}:${rights}`,
    `d:u:${service.name}:${rights}`,
    ...(directory.needs === access.write ? ownerEntries(directory, owners) : []),
  ];
  // d: is for what comes later, X for directories and what may be executed already (setfacl(1)).
  return `sudo setfacl -R -m ${entries.map(argument).join(',')} ${word}`;
}

/** The command for a folder that the service uses as a member of its group: what it makes there is of that group, too (inode(7)). */
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

/** Names of a directory service may have blanks in them. */
function argument(entry: string): string {
  return /^[\w.:@-]+$/.test(entry) ? entry : shellWord(entry);
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
