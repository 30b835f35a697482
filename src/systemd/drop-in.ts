import { bindWord, mountUnit, unitComment, unitWord } from './unit-text.ts';

/** Access that a configuration needs in addition to the shipped unit (systemd/dropcast.service). */
export interface UnitNeeds {
  readonly configFile: string;
  readonly folders: readonly FolderNeeds[];
  /**
   * Directories that must be writable in addition to the unit's: another state directory, or another socket's
   * directory.
   */
  readonly written: readonly ResolvedPath[];
  /** Files with secrets. */
  readonly secretFiles: readonly ResolvedPath[];
  /** The status page's port; null when the unit already allows it or there is no page. 0: any port. */
  readonly port: number | null;
  /** Programs that notifications run, with their interpreters. */
  readonly programs: readonly string[];
  /** Addresses of name servers that the unit would block. */
  readonly resolvers: readonly string[];
}

export interface ResolvedPath {
  /** Absolute path as configured. */
  readonly path: string;
  /** The path with symbolic links resolved; unchanged if it does not exist. */
  readonly realPath: string;
}

export interface FolderNeeds extends ResolvedPath {
  /** Whether the folder exists. If not, its mount point and groups are unknown. */
  readonly isThere: boolean;
  /** Whether files are moved or deleted in the folder. */
  readonly isWritten: boolean;
  /** Mount point of the folder's file system; null on the root file system. */
  readonly mountPoint: string | null;
  /** Names of the groups that give the service access. */
  readonly groups: readonly string[];
  /** Commands that an administrator must run to give the service access. */
  readonly commands: readonly string[];
  /** Command that an administrator must run so that the folder's group can use what the service creates; null: none. */
  readonly groupCommand: string | null;
}

/**
 * Returns the drop-in's text (systemd.unit(5)).
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
 * Extracts the kinds of lines that `dropInText` writes, to compare drop-ins regardless of order. Omits comments and
 * lines that others added, such as another credential.
 */
export function needsOf(text: string): ReadonlySet<string> {
  const keys =
    /^(?:Wants|After|(?:ReadWrite|NoExec|Bind|BindReadOnly)Paths|SupplementaryGroups|SocketBindAllow|IPAddressAllow)=/;
  return new Set(text.split('\n').filter((line) => keys.test(line)));
}

/**
 * Makes the service wait for mounts without requiring them. With RequiresMountsFor=, one share that cannot be mounted
 * keeps the service from starting, regardless of Restart=, and unmounting it stops the service (seen on 252 and 257).
 * WantsMountsFor= needs 256.
 */
function mounts({ folders }: UnitNeeds): readonly string[] {
  const all = unique(folders.flatMap(({ mountPoint }) => (mountPoint === null ? [] : mountUnit(mountPoint))));
  // Longer names are omitted, because systemd gives such mounts another name. The daemon waits for its folder anyway.
  const units = all.filter((unit) => unit.length <= LONGEST_UNIT);
  return ['[Unit]', ...units.flatMap((unit) => [`Wants=${unit}`, `After=${unit}`])];
}

/** systemd's UNIT_NAME_MAX, without the terminating NUL. */
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
    // A bind mount keeps showing the original directory, even if another takes its path (mount(2), MS_BIND).
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

/**
 * `-` ignores a missing path, which would otherwise fail the start (226/NAMESPACE). The daemon reports a missing folder
 * and waits.
 */
function openLines(path: ResolvedPath, isWritten: boolean): readonly string[] {
  const hidden = unique([path.path, path.realPath]).filter(isHidden);
  if (hidden.length > 0) {
    const key = isWritten ? 'BindPaths' : 'BindReadOnlyPaths';
    return hidden.map((each) => `${key}=${bindWord(`-${each}`)}`);
  }
  return isWritten ? [`ReadWritePaths=${unitWord(`-${path.path}`)}`] : [];
}

/**
 * Forbids execution in writable paths. Each becomes a mount of its own, which the unit's NoExecPaths=/ does not cover.
 */
function noExecLine(written: readonly ResolvedPath[]): readonly string[] {
  return written.length === 0 ? [] : [`NoExecPaths=${written.map(({ path }) => unitWord(`-${path}`)).join(' ')}`];
}

/** Allows these programs to be executed, because the unit allows only its own Node binary. */
function programLines(programs: readonly string[]): readonly string[] {
  if (programs.length === 0) return [];
  return [
    '# Commands of notifications. Each program that they start, like /usr/bin/curl, needs its own line in another drop-in.',
    `ExecPaths=${programs.map((path) => unitWord(`-${path}`)).join(' ')}`,
  ];
}

/** The unit's ProtectHome=tmpfs and PrivateTmp=yes show the service empty directories here. */
const hiddenPlaces = ['/home', '/root', '/run/user', '/tmp', '/var/tmp'] as const;

/** Whether the service sees a path only through a bind mount. */
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
