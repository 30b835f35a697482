import { namesOf } from './passwd.ts';

/** Groups below are those of Debian and of its packages; people and their teams come after (adduser.conf(5), login.defs(5)). */
const FIRST_OF_PEOPLE = 1000;

/** `nogroup`, and what 16 bits end with: the owner of everything that has none. */
const nobody = new Set([65_534, 65_535]);

/** Groups that are as good as root, wherever their number lies: they own containers, virtual machines, disks, logs or sudo. */
const powerful = new Set(
  'root adm admin sudo wheel shadow disk kmem docker podman lxd incus incus-admin libvirt libvirtd kvm vboxusers systemd-journal video'.split(
    ' ',
  ),
);

/**
 * Whether the service may join a group because a folder belongs to it. A group opens everything it owns, not only the folder, and anyone who
 * creates a folder chooses among their own groups: a member of docker would make a member of the service. An entry in the folder's access
 * control list gives the same access and nothing else.
 *
 * The group must be in the machine's own table: systemd does not start a service (216/GROUP) when a group of it is unknown, as that of a
 * network share may be, or of a directory service that does not answer yet.
 *
 * @param table text of group(5)
 */
export function isJoinable(gid: number, table: string): boolean {
  const names = namesOf(gid, table);
  return gid >= FIRST_OF_PEOPLE && !nobody.has(gid) && names.length > 0 && !names.some((name) => powerful.has(name));
}
