import { constants } from 'node:fs';
import { access, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checkLayout, placesOf, type Directory } from './checks.ts';
import { errnoOf, errnoSentence } from '../errno.ts';
import { isRefusal, isServiceUser } from '../read-permission.ts';
import { unlessHung } from '../unless-hung.ts';
import { serviceOf } from './installed-service.ts';
import type { InstalledService } from './installed-service.ts';
import { linkOfOthers, whyRefusedLink } from './links.ts';
import type { ConfigPaths } from './paths.ts';
import { byPlace, error, toProblem, warning, type Finding, type Position, type Problem } from './problem.ts';
import { formatKeyPath, parseKeyPath, type KeyPath } from './raw-tree.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Checks on disk that the folders and the state directory exist and are accessible, and how they relate once symbolic
 * links are resolved. Never writes or reads their content, and waits at most 5 s for a folder. Problems that
 * `loadConfig` found from the paths alone are not repeated.
 *
 * @param locate returns a key's position in the file
 */
export async function checkDirectories(
  paths: Directories,
  locate: (key: string) => Position,
): Promise<readonly Problem[]> {
  const folders = await Promise.all(paths.folders.map((folder) => inspectFolder(folder, serviceOf(paths.file))));
  const stateDir = await inspectStateDir(paths.stateDir);
  const resolved = { folders: folders.flatMap(({ place }) => place ?? []), stateDir: stateDir.place };
  const known = new Set(checkLayout(placesOf(paths)).map(({ path }) => formatKeyPath(path)));
  const behindLinks = checkLayout(resolved).filter(({ path }) => !known.has(formatKeyPath(path)));
  return [...folders.flatMap(({ findings }) => findings), ...stateDir.findings, ...behindLinks]
    .map((finding) => toProblem(finding, paths.file, locate(formatKeyPath(finding.path))))
    .toSorted(byPlace);
}

type Directories = Pick<ConfigPaths, 'file' | 'stateDir' | 'folders'>;
type Folder = Directories['folders'][number];

interface Inspected {
  /** The directory with symbolic links resolved; `null` if it does not exist. */
  readonly place: Directory | null;
  readonly findings: readonly Finding[];
}

async function inspectFolder(folder: Folder, service: InstalledService | null): Promise<Inspected> {
  const key = [...parseKeyPath(folder.key), 'path'];
  const found = await unlessHung(lookAt(folder, key, service));
  return found ?? away(key, `${folder.path} does not respond; check the server of its network share`);
}

async function lookAt(folder: Folder, key: KeyPath, service: InstalledService | null): Promise<Inspected> {
  try {
    const real = await realpath(folder.path);
    const link = await linkOfOthers(folder.path);
    if (link !== null) return away(key, `cannot use ${folder.path}: ${whyRefusedLink(link)}`);
    if (!(await stat(real)).isDirectory()) return away(key, `${folder.path} is not a directory`);
    const findings = [...linkFinding(key, folder.path, real), ...(await permissionFindings(folder, key, service))];
    return { place: { key, path: real }, findings };
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return away(key, await whyMissing(folder.path, service));
    return away(key, whyNotEntered(folder.path, cause, service));
  }
}

/**
 * Explains a missing folder. A service cannot see folders that its unit hides, so the folder may exist unless the
 * drop-in already names it.
 */
async function whyMissing(path: string, service: InstalledService | null): Promise<string> {
  const plain = `${path} does not exist; create or mount it`;
  if (service === null) return plain;
  const installed = await readFile(service.dropInFile, 'utf8').catch(() => '');
  return installed.includes(path.replaceAll('%', '%%')) ? plain : `${plain}, then run: ${service.setupCommand}`;
}

/**
 * Explains why a folder cannot be entered. `setup` grants missing rights only to the service, and the user who runs
 * `check` may lack others.
 */
export function whyNotEntered(
  path: string,
  cause: unknown,
  service: InstalledService | null,
  isService = isServiceUser(),
): string {
  const code = errnoOf(cause);
  const isOfService = service !== null && isRefusal(code) && isService;
  const what = isOfService
    ? `the service may not enter ${path} yet (${code})`
    : `cannot enter ${path}: ${errnoSentence(cause)}`;
  return what + fixOf(service);
}

function fixOf(service: InstalledService | null): string {
  return service === null ? '' : `. Fix: ${service.setupCommand}`;
}

function nowhere(key: KeyPath, message: string): Inspected {
  return { place: null, findings: [error(key, message)] };
}

/** The finding for a missing folder, which may appear later. */
function away(key: KeyPath, message: string): Inspected {
  return { place: null, findings: [{ ...error(key, message), passing: true }] };
}

function linkFinding(key: KeyPath, path: string, real: string): Finding[] {
  return path === real ? [] : [warning(key, `leads through a symbolic link to ${real}`)];
}

async function permissionFindings(folder: Folder, key: KeyPath, service: InstalledService | null): Promise<Finding[]> {
  const toRead = await refusal(folder.path, R_OK | X_OK);
  if (toRead !== null) return [{ ...error(key, whyNotEntered(folder.path, toRead, service)), passing: true }];
  const isOnlyBeside = folder.afterReady.kind === 'keep';
  if (isOnlyBeside && folder.beside !== true) return [];
  const toWrite = await refusal(folder.path, W_OK | X_OK);
  if (toWrite === null) return [];
  if (isOnlyBeside) {
    const what = `cannot write link files in ${folder.path}: ${errnoSentence(toWrite)}`;
    return [warning([...parseKeyPath(folder.key), 'beside'], `${what}; allow it, or remove beside${fixOf(service)}`)];
  }
  const what = `cannot ${folder.afterReady.kind} files in ${folder.path}: ${errnoSentence(toWrite)}`;
  const message = `${what}; allow it, or set after_ready: keep${fixOf(service)}`;
  return [{ ...error([...parseKeyPath(folder.key), 'after_ready'], message), passing: true }];
}

async function inspectStateDir(path: string): Promise<Inspected> {
  const key: KeyPath = ['state_dir'];
  const existing = await nearestExisting(path);
  if (typeof existing !== 'string') {
    const finding = error(key, `cannot access ${path}: ${existing.refused}`);
    return { place: null, findings: [existing.isMistake ? finding : { ...finding, passing: true }] };
  }
  if (!(await stat(existing)).isDirectory()) return nowhere(key, `${existing} is not a directory`);
  const refused = await refusal(existing, R_OK | W_OK | X_OK);
  const place = { key, path: (await realpath(existing)) + path.slice(existing.length) };
  if (refused === null) return { place, findings: [] };
  const verb = existing === path ? `write to ${path}` : `create ${path} in ${existing}`;
  // A refusal by a disk or its permissions is not a mistake in the file. The daemon reports it and exits, and systemd
  // restarts the daemon later.
  return { place, findings: [{ ...error(key, `cannot ${verb}: ${errnoSentence(refused)}`), passing: true }] };
}

/** Returns the directory, or if it does not exist, its nearest existing ancestor. */
async function nearestExisting(
  path: string,
): Promise<string | { readonly refused: string; readonly isMistake: boolean }> {
  try {
    await stat(path);
    return path;
  } catch (cause) {
    const code = errnoOf(cause);
    if (code !== 'ENOENT' || path === dirname(path))
      return { refused: errnoSentence(cause), isMistake: code === 'ENOTDIR' };
    return nearestExisting(dirname(path));
  }
}

/** @returns the system error, or null */
async function refusal(path: string, mode: number): Promise<unknown> {
  try {
    await access(path, mode);
    return null;
  } catch (cause) {
    return cause;
  }
}
