import { execFile } from 'node:child_process';
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../config/config.ts';
import type { InstalledService } from '../config/installed-service.ts';
import { isWithin } from '../config/paths.ts';
import type { Premises } from '../config/premises.ts';
import { groupName } from '../systemd/accounts.ts';
import type { ServiceUser } from '../systemd/accounts.ts';
import { isHidden } from '../systemd/drop-in.ts';
import type { Site, SiteFolder, SitePath } from '../systemd/drop-in.ts';
import { access, planAccess } from '../systemd/folder-access.ts';
import type { Directory } from '../systemd/folder-access.ts';
import { mountPointOf } from '../systemd/mount-points.ts';

/** The user of the units. */
export const SERVICE_USER = 'dropcast';

/** What the unit lets the status page listen on (systemd/dropcast.service). */
const UNIT_PORT = 7878;

/** What is known of the machine beside its disk. */
export interface Machine {
  /** Null when it does not exist yet: whom it may read nobody knows then. */
  readonly user: ServiceUser | null;
  /** Texts of group(5) and /proc/self/mountinfo. */
  readonly group: string;
  readonly mountinfo: string;
  /** Root can become the user and try; others have only the modes to go by. */
  readonly isRoot: boolean;
}

/** Looks at the folders of a configuration for what its service needs to get at them. Changes nothing. */
export async function surveySite(
  config: Config,
  { premises, service, machine }: { premises: Premises; service: InstalledService; machine: Machine },
): Promise<Site> {
  const { listen, socket } = config.status;
  const own = [service.stateDir, service.runtimeDir];
  const written = [config.stateDir, dirname(socket)].filter((path) => !own.some((outer) => isWithin(path, outer)));
  return {
    configFile: config.file,
    folders: await Promise.all(config.folders.map((folder) => surveyFolder(folder, machine))),
    written: await Promise.all([...new Set(written)].map(resolved)),
    secretFiles: await Promise.all(premises.secretFiles.map(resolved)),
    port: listen === null || listen.port === UNIT_PORT ? null : listen.port,
  };
}

/** Reads what is known of the machine and of the user of the service. */
export async function readMachine(
  findUser: (passwd: string, group: string) => ServiceUser | null,
  isRoot: boolean,
): Promise<Machine> {
  const [passwd, group, mountinfo] = await Promise.all(
    ['/etc/passwd', '/etc/group', '/proc/self/mountinfo'].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  return { user: findUser(passwd ?? '', group ?? ''), group: group ?? '', mountinfo: mountinfo ?? '', isRoot };
}

async function surveyFolder({ path, afterReady }: Config['folders'][number], machine: Machine): Promise<SiteFolder> {
  const place = await resolved(path);
  const isWritten = afterReady.kind !== 'keep';
  const directories = await directoriesOf(place, isWritten);
  const isThere = directories.at(-1)?.path === place.realPath;
  const { gids, closed } = await accessTo(place, directories, machine);
  return {
    ...place,
    isThere,
    isWritten,
    mountPoint: isThere ? mountPointOf(place.realPath, machine.mountinfo) : null,
    groups: gids.map((gid) => groupName(gid, machine.group)),
    commands: closed.map(commandFor),
  };
}

/** The folder, and those above it that have to be gone through: the service has no others in the places that are bound for it. */
async function directoriesOf(place: SitePath, isWritten: boolean): Promise<readonly Directory[]> {
  const { realPath } = place;
  const isBound = [place.path, realPath].some(isHidden);
  const needs = isWritten ? access.write : access.read;
  const found = await Promise.all(
    (isBound ? [realPath] : upwards(realPath)).map(async (path): Promise<readonly Directory[]> => {
      const stats = await stat(path).catch(() => null);
      if (stats === null) return [];
      const { mode, uid, gid } = stats;
      return [{ path, mode, uid, gid, needs: path === realPath ? needs : access.enter }];
    }),
  );
  return found.flat();
}

async function accessTo(
  { path, realPath }: SitePath,
  directories: readonly Directory[],
  { user, isRoot }: Machine,
): Promise<ReturnType<typeof planAccess>> {
  const nothing = { gids: [], closed: [] };
  const folder = directories.at(-1);
  if (user === null || folder === undefined) return nothing;
  // Modes say nothing of access control lists, the kernel does; but not of a folder behind /home that is bound past it.
  if (isRoot && ![path, realPath].some(isHidden) && (await isAllowed(folder))) return nothing;
  return planAccess(user, directories);
}

async function isAllowed({ path, needs }: Directory): Promise<boolean> {
  const tests = ['-r', path, '-a', '-x', path, ...(needs === access.write ? ['-a', '-w', path] : [])];
  try {
    await promisify(execFile)('runuser', ['-u', SERVICE_USER, '--', 'test', ...tests]);
    return true;
  } catch {
    return false;
  }
}

function commandFor({ path, needs }: Directory): string {
  const word = `'${path.replaceAll("'", String.raw`'\''`)}'`;
  if (needs === access.enter) return `sudo setfacl -m u:${SERVICE_USER}:x ${word}`;
  const rights = needs === access.write ? 'rwX' : 'rX';
  // d: is for what comes later, X for directories and what may be executed already (setfacl(1)).
  return `sudo setfacl -R -m u:${SERVICE_USER}:${rights},d:u:${SERVICE_USER}:${rights} ${word}`;
}

/** From the root down to the path itself. */
function upwards(path: string): readonly string[] {
  return path === dirname(path) ? [path] : [...upwards(dirname(path)), path];
}

async function resolved(path: string): Promise<SitePath> {
  return { path, realPath: await realpath(path).catch(() => path) };
}
