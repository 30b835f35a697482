import { open, readFile, realpath } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { dirname } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { InstalledService } from '../../config/installed-service.ts';
import { type ConfigPaths, isWithin } from '../../config/paths.ts';
import { SERVICE_USER } from '../../read-permission.ts';
import { access, accessCommand, groupCommand, isOpenByMode, planAccess } from '../../systemd/folder-access.ts';
import type { Allows, Directory } from '../../systemd/folder-access.ts';
import { type FolderNeeds, type ResolvedPath, type UnitNeeds, isBound } from '../../systemd/drop-in.ts';
import { type ServiceUser, accountName, findUser, namesOf } from '../../passwd.ts';
import { type Waypoint, trustedWalk } from '../../systemd/trusted-walk.ts';
import { mountPointOf } from '../../watch/kernel.ts';
import { probeAccess } from './probe-access.ts';

/** Port that the unit allows for the status page (systemd/dropcast.service). */
const UNIT_PORT = 7878;

/** UID of `nobody` on Debian, and the kernel's overflow UID. It owns no files. */
const NOBODY = 65_534;

/** What must be known about the machine, apart from its disks. */
export interface Machine {
  /** Null if the user does not exist yet; its access is then unknown. */
  readonly user: ServiceUser | null;
  /** Contents of passwd(5), group(5), /proc/self/mountinfo and resolv.conf(5). */
  readonly passwd: string;
  readonly group: string;
  readonly mountinfo: string;
  readonly resolvConf: string;
  /** Whether access can be tested as the user. Without root, only file modes are known, not access control lists. */
  readonly isRoot: boolean;
}

/**
 * Finds the access that the service needs from its unit for the configured folders. Changes nothing.
 *
 * @throws {UnitError} when a path leads through a link that others can change
 */
export async function findUnitNeeds(
  config: Config,
  { paths, service, machine }: { paths: ConfigPaths; service: InstalledService; machine: Machine },
): Promise<UnitNeeds> {
  const { listen, socket } = config.status;
  const own = [service.stateDir, service.runtimeDir];
  const written = [config.stateDir, dirname(socket)].filter((path) => !own.some((outer) => isWithin(path, outer)));
  return {
    configFile: config.file,
    folders: await Promise.all(config.folders.map((folder) => folderNeeds(folder, machine))),
    written: await Promise.all([...new Set(written)].map(resolved)),
    secretFiles: await Promise.all(paths.secretFiles.map(resolved)),
    port: listen === null || listen.port === UNIT_PORT ? null : listen.port,
    programs: (await Promise.all(programsOf(config).map(startedPrograms))).flat(),
    resolvers: linkLocalResolvers(machine.resolvConf),
  };
}

function programsOf({ notify }: Config): readonly string[] {
  return notify.flatMap((target) => (target.type === 'command' ? target.argv.slice(0, 1) : []));
}

/** Reads the facts about the machine and the service's user. */
export async function readMachine(isRoot: boolean): Promise<Machine> {
  const files = ['/etc/passwd', '/etc/group', '/proc/self/mountinfo', '/etc/resolv.conf'];
  const [passwd = '', group = '', mountinfo = '', resolvConf = ''] = await Promise.all(
    files.map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  return { user: findUser(SERVICE_USER, passwd, group), passwd, group, mountinfo, resolvConf, isRoot };
}

async function folderNeeds(
  { path, afterReady, beside }: Config['folders'][number],
  machine: Machine,
): Promise<FolderNeeds> {
  const way = await trustedWalk(path);
  const place = { path, realPath: way?.at(-1)?.path ?? path };
  const isWritten = afterReady.kind !== 'keep' || beside;
  const directories = directoriesOf(place, way ?? [], isWritten);
  const folder = directories.at(-1);
  const { user } = machine;
  const policy = { allows: allowsOn(machine), isJoinable: (gid: number) => isJoinable(gid, machine.group) };
  const { gids, closed } = user === null ? { gids: [], closed: [] } : await planAccess(user, directories, policy);
  return {
    ...place,
    isThere: folder !== undefined,
    isWritten,
    mountPoint: folder === undefined ? null : mountPointOf(place.realPath, machine.mountinfo),
    groups: gids.map((gid) => accountName(gid, machine.group)),
    groupCommand:
      folder !== undefined && afterReady.kind === 'move' && gids.includes(folder.gid) ? groupCommand(folder) : null,
    commands: user === null ? [] : await Promise.all(closed.map((each) => commandFor(each, user, machine))),
  };
}

/**
 * The folder and its parent directories, which the service must pass through. A folder that is bound into the service's
 * unit needs no access to its parents.
 */
function directoriesOf(place: ResolvedPath, way: readonly Waypoint[], isWritten: boolean): readonly Directory[] {
  const needs = isWritten ? access.write : access.read;
  return (isBound(place) ? way.slice(-1) : way).map(({ path, stats: { mode, uid, gid } }) => ({
    path,
    mode,
    uid,
    gid,
    needs: path === place.realPath ? needs : access.enter,
  }));
}

function allowsOn({ isRoot }: Machine): Allows {
  return isRoot ? probeAccess : async (who, directory) => isOpenByMode(who, directory);
}

async function commandFor(directory: Directory, user: ServiceUser, machine: Machine): Promise<string> {
  const { uid, gid } = directory;
  const owners = {
    user: uid === 0 ? null : accountName(uid, machine.passwd),
    group: gid === 0 || user.gids.has(gid) ? null : accountName(gid, machine.group),
    groupAccess: await groupAccess(directory, allowsOn(machine)),
  };
  return accessCommand({ name: SERVICE_USER, uid: user.uid }, directory, owners);
}

/** What the directory's group may do, including what everyone may do. Probed as `nobody` in that group. */
async function groupAccess(directory: Directory, allows: Allows): Promise<number> {
  const member = { uid: NOBODY, gids: new Set([directory.gid]) };
  for (const needs of [access.write, access.read]) if (await allows(member, { ...directory, needs })) return needs;
  return 0;
}

async function resolved(path: string): Promise<ResolvedPath> {
  return { path, realPath: (await trustedWalk(path))?.at(-1)?.path ?? path };
}

/**
 * Finds link-local name servers, as on Google Compute Engine (169.254.169.254) or from router advertisements (fe80::…).
 * The unit's IPAddressDeny=link-local blocks them unless they are excepted.
 *
 * @param resolvConf text of resolv.conf(5)
 */
export function linkLocalResolvers(resolvConf: string): readonly string[] {
  return [...resolvConf.matchAll(/^nameserver\s+([\da-f.:]+)/gim)].flatMap(([, address = '']) =>
    isLinkLocal(address) ? [address] : [],
  );
}

const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4');
linkLocal.addSubnet('fe80::', 10, 'ipv6');

function isLinkLocal(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && linkLocal.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** `#!` and the interpreter's path (execve(2)). */
const SHEBANG = /^#![ \t]*([^\s]+)/;

/**
 * The files that must be executable to start a program: the program and the interpreter in its first line. Programs
 * that it starts in turn are unknown.
 */
export async function startedPrograms(program: string): Promise<readonly string[]> {
  const interpreter = SHEBANG.exec(await firstBytes(program))?.[1];
  const needed = [program, ...(interpreter === undefined ? [] : [interpreter])];
  const real = await Promise.all(needed.map((path) => realpath(path).catch(() => path)));
  return [...new Set([program, ...real])];
}

async function firstBytes(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch {
    return '';
  }
}

/**
 * First group ID for people and their teams. Debian and its packages use lower numbers (adduser.conf(5),
 * login.defs(5)).
 */
const FIRST_OF_PEOPLE = 1000;

/** `nogroup`, and the highest 16-bit ID, which owns files without an owner. */
const nobody = new Set([NOBODY, 65_535]);

/** Groups equivalent to root, whatever their ID: they control containers, virtual machines, disks, logs or sudo. */
const powerful = new Set(
  'root adm admin sudo wheel shadow disk kmem docker podman lxd incus incus-admin libvirt libvirtd kvm vboxusers systemd-journal video'.split(
    ' ',
  ),
);

/**
 * Whether the service may join a folder's group. A group gives access to everything it owns, and anyone who creates a
 * folder can pick any of their own groups: a member of docker could thus make the service a member too. An entry in the
 * folder's access control list gives the same access and nothing else.
 *
 * The group must be in the machine's own table. systemd does not start a service (216/GROUP) with an unknown group,
 * such as one from a network share or from a directory service that is not up yet.
 *
 * @param table text of group(5)
 */
export function isJoinable(gid: number, table: string): boolean {
  const names = namesOf(gid, table);
  return gid >= FIRST_OF_PEOPLE && !nobody.has(gid) && names.length > 0 && !names.some((name) => powerful.has(name));
}
