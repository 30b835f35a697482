import { bindWord, mountUnit, unitComment, unitWord } from './unit-text.ts';

/** The settings that a configuration needs in addition to the shipped unit (systemd/dropcast.service). */
export interface UnitNeeds {
  readonly configFile: string;
  readonly folders: readonly FolderNeeds[];
  /** Writable directories beyond those of the unit: another state directory, the directory of another socket. */
  readonly written: readonly ResolvedPath[];
  /** Files with secrets. */
  readonly secretFiles: readonly ResolvedPath[];
  /** Port of the status page; null when the unit allows it already or there is no page. 0 is any port. */
  readonly port: number | null;
  /** Programs that notifications start, with their interpreters. */
  readonly programs: readonly string[];
  /** Addresses of name servers that the unit blocks. */
  readonly resolvers: readonly string[];
}

export interface ResolvedPath {
  /** As in the configuration, absolute. */
  readonly path: string;
  /** With symbolic links resolved; the same path when it does not exist. */
  readonly realPath: string;
}

export interface FolderNeeds extends ResolvedPath {
  /** When false, mount point and groups are unknown. */
  readonly isThere: boolean;
  /** Whether files are moved or deleted in it. */
  readonly isWritten: boolean;
  /** Mount point of its file system; null on the root file system. */
  readonly mountPoint: string | null;
  /** Names of the groups that give the service access. */
  readonly groups: readonly string[];
  /** Commands that a person must run to give the service access. */
  readonly commands: readonly string[];
  /**
   * The command that a person must run so that the folder's group can use what the service creates; null when none is
   * needed.
   */
  readonly groupCommand: string | null;
}

/**
 * The text of the drop-in (systemd.unit(5)).
 *
 * @throws {UnitError} for a path that a unit file cannot contain
 */
export function dropInText(needs: UnitNeeds): string {
  const sections = [mounts(needs), service(needs)].filter((lines) => lines.length > 1);
  const header = [
    `# Written by dropcast for ${unitWord(needs.configFile)}. Run \`sudo dropcast setup\` when the folders change.`,
    ...(sections.length === 0 ? ['# The folders need nothing beyond the unit.'] : []),
  ];
  return [header, ...sections].map((lines) => `${lines.join('\n')}\n`).join('\n');
}

/**
 * The lines of a drop-in that `dropInText` writes, in any order. Leaves out comments and lines that others added, such
 * as another credential.
 */
export function needsOf(text: string): ReadonlySet<string> {
  const keys =
    /^(?:Wants|After|(?:ReadWrite|NoExec|Bind|BindReadOnly)Paths|SupplementaryGroups|SocketBindAllow|IPAddressAllow)=/;
  return new Set(text.split('\n').filter((line) => keys.test(line)));
}

/**
 * The service waits for mounts without requiring them. With RequiresMountsFor= one share that cannot be mounted keeps
 * the service from starting, whatever Restart= says, and unmounting it stops the service (seen on 252 and 257).
 * WantsMountsFor= needs 256.
 */
function mounts({ folders }: UnitNeeds): readonly string[] {
  const all = unique(folders.flatMap(({ mountPoint }) => (mountPoint === null ? [] : mountUnit(mountPoint))));
  // systemd knows a mount with a longer name by another one; the daemon waits for its folder anyway.
  const units = all.filter((unit) => unit.length <= LONGEST_UNIT);
  return ['[Unit]', ...units.flatMap((unit) => [`Wants=${unit}`, `After=${unit}`])];
}

/** UNIT_NAME_MAX of systemd, without the zero at its end. */
const LONGEST_UNIT = 255;

function service(needs: UnitNeeds): readonly string[] {
  return [
    '[Service]',
    ...needs.folders.flatMap(folderLines),
    ...groupLine(needs.folders),
    ...needs.written.flatMap((path) => openLines(path, true)),
    ...needs.secretFiles.flatMap((path) => openLines(path, false)),
    ...noExecLine([...needs.folders.filter(({ isWritten }) => isWritten), ...needs.written]),
    ...programLines(needs.programs),
    ...needs.resolvers.map((address) => `IPAddressAllow=${address}`),
    ...(needs.port === null ? [] : [`SocketBindAllow=tcp${needs.port === 0 ? '' : `:${needs.port}`}`]),
  ];
}

function folderLines(folder: FolderNeeds): readonly string[] {
  const name = unitWord(folder.path);
  const lines = openLines(folder, folder.isWritten);
  return [
    ...(lines.length === 0 ? [`# ${name} is read-only and needs no line.`] : lines),
    // A bind mount shows the directory, not what is at its path later (mount(2), MS_BIND).
    ...(isBound(folder) ? [`# When ${name} is replaced by another directory, restart the service.`] : []),
    ...(folder.isThere ? [] : [`# ${name} does not exist. Run this again once it does: its groups are unknown.`]),
    ...(isBelow(folder.realPath, '/root')
      ? [`# The service cannot use ${name} with newer versions of systemd (seen: 257), which hide /root: move it.`]
      : []),
    ...folder.commands.map((command) =>
      unitComment(`The service cannot use ${name} until an administrator runs: ${command}`),
    ),
    ...(folder.groupCommand === null
      ? []
      : [
          unitComment(
            `The group of ${name} cannot use files that are moved there until an administrator runs: ${folder.groupCommand}`,
          ),
        ]),
  ];
}

function groupLine(folders: readonly FolderNeeds[]): readonly string[] {
  const groups = unique(folders.flatMap(({ groups }) => groups));
  return groups.length === 0 ? [] : [`SupplementaryGroups=${groups.map(unitWord).join(' ')}`];
}

/** `-`: a folder that is missing at the start must not fail it (226/NAMESPACE); the daemon reports it and waits. */
function openLines(path: ResolvedPath, isWritten: boolean): readonly string[] {
  const hidden = unique([path.path, path.realPath]).filter(isHidden);
  if (hidden.length > 0) {
    const key = isWritten ? 'BindPaths' : 'BindReadOnlyPaths';
    return hidden.map((each) => `${key}=${bindWord(`-${each}`)}`);
  }
  return isWritten ? [`ReadWritePaths=${unitWord(`-${path.path}`)}`] : [];
}

/**
 * A writable path becomes a mount of its own, which NoExecPaths=/ of the unit does not cover: nothing there may be
 * executed.
 */
function noExecLine(written: readonly ResolvedPath[]): readonly string[] {
  return written.length === 0 ? [] : [`NoExecPaths=${written.map(({ path }) => unitWord(`-${path}`)).join(' ')}`];
}

/** The unit lets nothing be executed but its own Node. */
function programLines(programs: readonly string[]): readonly string[] {
  if (programs.length === 0) return [];
  return [
    '# Commands of notifications. Each program that they start, like /usr/bin/curl, needs its own line in another drop-in.',
    `ExecPaths=${programs.map((path) => unitWord(`-${path}`)).join(' ')}`,
  ];
}

/** ProtectHome=tmpfs and PrivateTmp=yes of the unit show the service empty directories in these places. */
const hiddenPlaces = ['/home', '/root', '/run/user', '/tmp', '/var/tmp'] as const;

/** Whether the service sees a path only when it is bound for it. */
export function isBound({ path, realPath }: ResolvedPath): boolean {
  return isHidden(path) || isHidden(realPath);
}

function isHidden(path: string): boolean {
  return hiddenPlaces.some((place) => isBelow(path, place));
}

function isBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}
