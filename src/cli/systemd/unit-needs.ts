import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { InstalledService } from '../../config/installed-service.ts';
import { isWithin } from '../../config/paths.ts';
import type { ConfigPaths } from '../../config/paths.ts';
import { accessCommand, groupCommand } from '../../systemd/access-command.ts';
import { accountName } from '../../systemd/passwd.ts';
import type { ServiceUser } from '../../systemd/passwd.ts';
import { isBound } from '../../systemd/drop-in.ts';
import type { UnitNeeds, FolderNeeds, ResolvedPath } from '../../systemd/drop-in.ts';
import { access, isOpenByMode, planAccess } from '../../systemd/folder-access.ts';
import type { Allows, Directory } from '../../systemd/folder-access.ts';
import { mountPointOf } from '../../watch/mount-points.ts';
import { isJoinable } from '../../systemd/joinable-group.ts';
import { linkLocalResolvers } from '../../systemd/resolvers.ts';
import { startedPrograms } from '../../systemd/started-programs.ts';
import { trustedWalk } from '../../systemd/trusted-walk.ts';
import type { Waypoint } from '../../systemd/trusted-walk.ts';
import { probeAccess } from './probe-access.ts';
import { SERVICE_USER } from '../../service-user.ts';

/** The port that the unit allows for the status page (systemd/dropcast.service). */
const UNIT_PORT = 7878;

/** The user `nobody`, of Debian and of the kernel. It owns nothing. */
const NOBODY = 65_534;

/** The machine, apart from its disks. */
export interface Machine {
  /** Null when it does not exist yet; what it may read is then unknown. */
  readonly user: ServiceUser | null;
  /** Texts of passwd(5), group(5), /proc/self/mountinfo and resolv.conf(5). */
  readonly passwd: string;
  readonly group: string;
  readonly mountinfo: string;
  readonly resolvConf: string;
  /** Root can become the user and try. Others have only the modes, which do not show access control lists. */
  readonly isRoot: boolean;
}

/**
 * Finds what the service needs from its unit to use the folders of a configuration. Changes nothing.
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

/** Reads the machine and the user of the service. */
export async function readMachine(
  findUser: (passwd: string, group: string) => ServiceUser | null,
  isRoot: boolean,
): Promise<Machine> {
  const files = ['/etc/passwd', '/etc/group', '/proc/self/mountinfo', '/etc/resolv.conf'];
  const [passwd = '', group = '', mountinfo = '', resolvConf = ''] = await Promise.all(
    files.map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  return { user: findUser(passwd, group), passwd, group, mountinfo, resolvConf, isRoot };
}

async function folderNeeds({ path, afterReady }: Config['folders'][number], machine: Machine): Promise<FolderNeeds> {
  const way = await trustedWalk(path);
  const place = { path, realPath: way?.at(-1)?.path ?? path };
  const isWritten = afterReady.kind !== 'keep';
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

/** The folder, and the directories above it that the service must pass through: none of them for a folder that is bound for it. */
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

/** What members of the directory's group may do there: probed as `nobody` in that group. Includes what everybody may do. */
async function groupAccess(directory: Directory, allows: Allows): Promise<number> {
  const member = { uid: NOBODY, gids: new Set([directory.gid]) };
  for (const needs of [access.write, access.read]) if (await allows(member, { ...directory, needs })) return needs;
  return 0;
}

async function resolved(path: string): Promise<ResolvedPath> {
  return { path, realPath: (await trustedWalk(path))?.at(-1)?.path ?? path };
}
