import { constants } from 'node:fs';
import { access, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checkLayout, placesOf, type Place } from './checks.ts';
import { errnoOf, errnoSentence } from './errno.ts';
import { unlessHung } from '../unless-hung.ts';
import { serviceOf } from './installed-service.ts';
import { linkOfOthers, whyRefusedLink } from './links.ts';
import type { ConfigPaths } from './paths.ts';
import { byPlace, error, toProblem, warning, type Finding, type Position, type Problem } from './problem.ts';
import { formatKeyPath, parseKeyPath, type KeyPath } from './raw-tree.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Checks on the disk that folders and state directory exist and may be used, and how they relate once links are resolved.
 * Never reads what is in them, never writes, and waits at most 5 s for a folder. Does not repeat what `loadConfig` saw from the paths alone.
 *
 * @param locate gives the place of a key in the file
 */
export async function checkDirectories(
  paths: Directories,
  locate: (key: string) => Position,
): Promise<readonly Problem[]> {
  const folders = await Promise.all(
    paths.folders.map(async (folder) => withHint(await inspectFolder(folder), folder.path, paths.file)),
  );
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
  /** With links resolved; `null` when it does not exist. */
  readonly place: Place | null;
  readonly findings: readonly Finding[];
}

async function inspectFolder(folder: Folder): Promise<Inspected> {
  const key = [...parseKeyPath(folder.key), 'path'];
  const found = await unlessHung(lookAt(folder, key));
  return found ?? away(key, `${folder.path} does not respond; check the server of its network share`);
}

async function lookAt(folder: Folder, key: KeyPath): Promise<Inspected> {
  try {
    const real = await realpath(folder.path);
    const link = await linkOfOthers(folder.path);
    if (link !== null) return away(key, `cannot use ${folder.path}: ${whyRefusedLink(link)}`);
    if (!(await stat(real)).isDirectory()) return away(key, `${folder.path} is not a directory`);
    const findings = [...linkFinding(key, folder.path, real), ...(await permissionFindings(folder, key))];
    return { place: { key, path: real }, findings };
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return away(key, `${folder.path} does not exist; create or mount it`);
    return away(key, `cannot access ${folder.path}: ${errnoSentence(cause)}`);
  }
}

function nowhere(key: KeyPath, message: string): Inspected {
  return { place: null, findings: [error(key, message)] };
}

/** For a folder, which may appear later. */
function away(key: KeyPath, message: string): Inspected {
  return { place: null, findings: [{ ...error(key, message), passing: true }] };
}

/**
 * A service sees only what its unit allows: a folder that is missing, closed or read-only may be so because of the unit's sandbox,
 * unless the drop-in already names it.
 */
async function withHint({ place, findings }: Inspected, path: string, configFile: string): Promise<Inspected> {
  const service = serviceOf(configFile);
  if (service === null || !findings.some(({ passing }) => passing === true)) return { place, findings };
  const installed = await readFile(service.dropInFile, 'utf8').catch(() => '');
  if (installed.includes(path.replaceAll('%', '%%'))) return { place, findings };
  const hint = `; the service also needs \`${service.dropInCommand}\` and \`sudo systemctl restart ${service.name}\``;
  const hinted = findings.map((finding) =>
    finding.passing === true ? { ...finding, message: finding.message + hint } : finding,
  );
  return { place, findings: hinted };
}

function linkFinding(key: KeyPath, path: string, real: string): Finding[] {
  return path === real ? [] : [warning(key, `leads through a symbolic link to ${real}`)];
}

async function permissionFindings(folder: Folder, key: KeyPath): Promise<Finding[]> {
  const toRead = await refusal(folder.path, R_OK | X_OK);
  if (toRead !== null) return [{ ...error(key, `cannot list ${folder.path}: ${toRead}`), passing: true }];
  if (folder.afterReady.kind === 'keep') return [];
  const toWrite = await refusal(folder.path, W_OK | X_OK);
  if (toWrite === null) return [];
  const message = `cannot ${folder.afterReady.kind} files in ${folder.path}: ${toWrite}; allow it, or set after_ready: keep`;
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
  // What a disk or its permissions refuse is no mistake in the file: the daemon says it, ends, and systemd starts it again later.
  return { place, findings: [{ ...error(key, `cannot ${verb}: ${refused}`), passing: true }] };
}

/** The directory, or the nearest one above it that exists: it will be created in there. */
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

async function refusal(path: string, mode: number): Promise<string | null> {
  try {
    await access(path, mode);
    return null;
  } catch (cause) {
    return errnoSentence(cause);
  }
}
