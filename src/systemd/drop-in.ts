import { bindWord, mountUnit, unitComment, unitWord } from './unit-text.ts';

/** What a site needs of its unit beside what the shipped one has (systemd/dropcast.service). */
export interface UnitNeeds {
  /** The configuration that all of this is for. */
  readonly configFile: string;
  readonly folders: readonly FolderNeeds[];
  /** Directories that are written to and are none of the unit's own: another state directory, that of another socket. */
  readonly written: readonly ResolvedPath[];
  /** Files that hold secrets. */
  readonly secretFiles: readonly ResolvedPath[];
  /** Of the status page; null when it is that of the unit, or there is none. 0 is any. */
  readonly port: number | null;
  /** Addresses of name servers that the unit shuts out. */
  readonly resolvers: readonly string[];
}

export interface ResolvedPath {
  /** As the configuration has it, absolute. */
  readonly path: string;
  /** With links resolved, as far as they lead somewhere. */
  readonly realPath: string;
}

export interface FolderNeeds extends ResolvedPath {
  /** Else its mount and its groups are not known. */
  readonly isThere: boolean;
  /** Files are moved or deleted in it. */
  readonly isWritten: boolean;
  /** Of the file system that it is on, when that is not the root file system. */
  readonly mountPoint: string | null;
  /** Names of groups that the service must be in for it. */
  readonly groups: readonly string[];
  /** What a person has to do for the service to get at it, as commands. */
  readonly commands: readonly string[];
  /** What a person has to do for its group to get at what the service makes in it; null when the group can, or need not. */
  readonly groupCommand: string | null;
}

/**
 * The text of the drop-in, systemd.unit(5).
 *
 * @throws {UnitTextError} for a path that cannot be written into one
 */
export function dropInText(site: UnitNeeds): string {
  const sections = [mounts(site), service(site)].filter((lines) => lines.length > 1);
  const header = [
    `# Made by \`dropcast systemd drop-in\` of ${unitWord(site.configFile)}. Make it again when folders change there.`,
    ...(sections.length === 0 ? ['# They need nothing that the unit does not have.'] : []),
  ];
  return [header, ...sections].map((lines) => `${lines.join('\n')}\n`).join('\n');
}

/**
 * The lines of a drop-in that `dropInText` may write, in any order: neither comments, nor what somebody else put there, like
 * another credential.
 */
export function needsOf(text: string): ReadonlySet<string> {
  const keys =
    /^(?:Wants|After|(?:ReadWrite|NoExec|Bind|BindReadOnly)Paths|SupplementaryGroups|SocketBindAllow|IPAddressAllow)=/;
  return new Set(text.split('\n').filter((line) => keys.test(line)));
}

/**
 * Waited for, but not required: with RequiresMountsFor= one share that cannot be mounted keeps the service from starting
 * at all, whatever Restart= says, and taking it away stops the service (seen on 252 and 257). WantsMountsFor= comes with 256.
 */
function mounts({ folders }: UnitNeeds): readonly string[] {
  const units = unique(folders.flatMap(({ mountPoint }) => (mountPoint === null ? [] : mountUnit(mountPoint))));
  return ['[Unit]', ...units.flatMap((unit) => [`Wants=${unit}`, `After=${unit}`])];
}

function service(site: UnitNeeds): readonly string[] {
  return [
    '[Service]',
    ...site.folders.flatMap(folderLines),
    ...groupLine(site.folders),
    ...site.written.flatMap((path) => openLines(path, true)),
    ...site.secretFiles.flatMap((path) => openLines(path, false)),
    ...noExecLine([...site.folders.filter(({ isWritten }) => isWritten), ...site.written]),
    ...site.resolvers.map((address) => `IPAddressAllow=${address}`),
    ...(site.port === null ? [] : [`SocketBindAllow=tcp${site.port === 0 ? '' : `:${site.port}`}`]),
  ];
}

function folderLines(folder: FolderNeeds): readonly string[] {
  const name = unitWord(folder.path);
  const lines = openLines(folder, folder.isWritten);
  return [
    ...(lines.length === 0 ? [`# ${name} is only read.`] : lines),
    // What is bound is the directory, whatever is at its path later (mount(2), MS_BIND).
    ...(isBound(folder) ? [`# A directory that is put in the place of ${name} is seen after a restart only.`] : []),
    ...(folder.isThere ? [] : [`# ${name} is not there. Make this again once it is: its groups are not known yet.`]),
    ...(isBelow(folder.realPath, '/root')
      ? [
          `# The service cannot use ${name} with newer versions of systemd (seen: 257), which keep /root closed: move it.`,
        ]
      : []),
    ...folder.commands.map((command) => unitComment(`The service cannot use ${name} before somebody runs: ${command}`)),
    ...(folder.groupCommand === null
      ? []
      : [
          unitComment(
            `The group of ${name} cannot use what is moved there before somebody runs: ${folder.groupCommand}`,
          ),
        ]),
  ];
}

function groupLine(folders: readonly FolderNeeds[]): readonly string[] {
  const groups = unique(folders.flatMap(({ groups }) => groups));
  return groups.length === 0 ? [] : [`SupplementaryGroups=${groups.map(unitWord).join(' ')}`];
}

/** `-`: one that is not there at the start must not fail it (226/NAMESPACE); the daemon says so, and waits for it. */
function openLines(path: ResolvedPath, isWritten: boolean): readonly string[] {
  const hidden = unique([path.path, path.realPath]).filter(isHidden);
  if (hidden.length > 0) {
    const key = isWritten ? 'BindPaths' : 'BindReadOnlyPaths';
    return hidden.map((each) => `${key}=${bindWord(`-${each}`)}`);
  }
  return isWritten ? [`ReadWritePaths=${unitWord(`-${path.path}`)}`] : [];
}

/** What is made writable is a mount of its own, which NoExecPaths=/ of the unit does not reach: nothing there may become a program. */
function noExecLine(written: readonly ResolvedPath[]): readonly string[] {
  return written.length === 0 ? [] : [`NoExecPaths=${written.map(({ path }) => unitWord(`-${path}`)).join(' ')}`];
}

/** ProtectHome=tmpfs and PrivateTmp=yes of the unit show the service empty directories in these places. */
const hiddenPlaces = ['/home', '/root', '/run/user', '/tmp', '/var/tmp'] as const;

/** Whether the service sees such a place only if it is bound for it. */
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
