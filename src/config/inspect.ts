import { constants } from 'node:fs';
import { access, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { answered } from './answered.ts';
import { checkLayout, type Place } from './check-layout.ts';
import { errnoOf, errnoSentence } from './errno.ts';
import { error, warning, type Finding } from './finding.ts';
import { serviceOf } from './installed-service.ts';
import { formatKeyPath, parseKeyPath, type KeyPath } from './key-path.ts';
import type { Loaded, Problem } from './load.ts';
import type { Premises } from './premises.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Looks whether folders and state directory are there and may be used, and how they lie to each other once links are
 * resolved. Never reads what is in them, never writes. What `loadConfig` saw from the paths alone is not said again.
 */
export async function inspectSurroundings(config: Places, locate: Loaded['locate']): Promise<Problem[]> {
  const folders = await Promise.all(
    config.folders.map(async (folder) => withHint(await inspectFolder(folder), folder.path, config.file)),
  );
  const stateDir = await inspectStateDir(config.stateDir);
  const findings = [
    ...folders.flatMap((folder) => folder.findings),
    ...stateDir.findings,
    ...layoutBehindLinks(
      config,
      folders.flatMap(({ place }) => place ?? []),
      stateDir.place,
    ),
  ];
  return findings
    .map(({ path, message, severity, passing }) => {
      const key = formatKeyPath(path);
      return { file: config.file, ...locate(key), key, message, severity, ...(passing && { passing }) };
    })
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
}

type Places = Pick<Premises, 'file' | 'stateDir' | 'folders'>;

interface Inspected {
  /** With links resolved; `null` when it is not there. */
  readonly place: Place | null;
  readonly findings: readonly Finding[];
}

async function inspectFolder(folder: Premises['folders'][number]): Promise<Inspected> {
  const key = [...parseKeyPath(folder.key), 'path'];
  const found = await answered(lookAt(folder, key));
  return found ?? away(key, `${folder.path} does not answer: is it on a share whose server is away?`);
}

async function lookAt(folder: Premises['folders'][number], key: KeyPath): Promise<Inspected> {
  try {
    const real = await realpath(folder.path);
    if (!(await stat(real)).isDirectory()) return away(key, `${folder.path} is not a directory`);
    const findings = [...linkFinding(key, folder.path, real), ...(await permissionFindings(folder, key))];
    return { place: { key, path: real }, findings };
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT')
      return away(key, `${folder.path} does not exist; create it, or mount what belongs there`);
    return away(key, `cannot look at ${folder.path}: ${errnoSentence(cause)}`);
  }
}

function nowhere(key: KeyPath, message: string): Inspected {
  return { place: null, findings: [error(key, message)] };
}

/** Of a folder, which may come later. */
function away(key: KeyPath, message: string): Inspected {
  return { place: null, findings: [{ ...error(key, message), passing: true }] };
}

/**
 * A service sees a folder as its unit lets it: not there, closed or read-only may be the doing of the sandbox. Not when the
 * drop-in names the folder already.
 */
async function withHint({ place, findings }: Inspected, path: string, configFile: string): Promise<Inspected> {
  const service = serviceOf(configFile);
  if (service === null || !findings.some(({ passing }) => passing === true)) return { place, findings };
  const installed = await readFile(service.dropInFile, 'utf8').catch(() => '');
  if (installed.includes(path.replaceAll('%', '%%'))) return { place, findings };
  const hint = `; the service needs \`${service.dropInCommand}\` for its folders, then \`sudo systemctl restart ${service.name}\``;
  const hinted = findings.map((finding) =>
    finding.passing === true ? { ...finding, message: finding.message + hint } : finding,
  );
  return { place, findings: hinted };
}

function linkFinding(key: KeyPath, path: string, real: string): Finding[] {
  return path === real ? [] : [warning(key, `is reached through a symbolic link; the folder itself is ${real}`)];
}

async function permissionFindings(folder: Premises['folders'][number], key: KeyPath): Promise<Finding[]> {
  const toRead = await refusal(folder.path, R_OK | X_OK);
  if (toRead !== null) return [{ ...error(key, `cannot list ${folder.path}: ${toRead}`), passing: true }];
  if (folder.afterReady.kind === 'keep') return [];
  const toWrite = await refusal(folder.path, W_OK | X_OK);
  if (toWrite === null) return [];
  const message = `cannot ${folder.afterReady.kind} files of ${folder.path}: ${toWrite}; allow it, or set after_ready: keep`;
  return [{ ...error([...parseKeyPath(folder.key), 'after_ready'], message), passing: true }];
}

async function inspectStateDir(path: string): Promise<Inspected> {
  const key: KeyPath = ['state_dir'];
  const existing = await nearestExisting(path);
  if (typeof existing !== 'string') return nowhere(key, `cannot look at ${path}: ${existing.refused}`);
  if (!(await stat(existing)).isDirectory()) return nowhere(key, `${existing} is not a directory`);
  const refused = await refusal(existing, R_OK | W_OK | X_OK);
  const place = { key, path: (await realpath(existing)) + path.slice(existing.length) };
  if (refused === null) return { place, findings: [] };
  const verb = existing === path ? `write to ${path}` : `create ${path} in ${existing}`;
  return { place, findings: [error(key, `cannot ${verb}: ${refused}`)] };
}

/** The directory, or the first above it that is there: it will be created in that one. */
async function nearestExisting(path: string): Promise<string | { readonly refused: string }> {
  try {
    await stat(path);
    return path;
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT' || path === dirname(path)) return { refused: errnoSentence(cause) };
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

/** Only what resolved links bring to light. */
function layoutBehindLinks(config: Places, folders: readonly Place[], stateDir: Place | null): Finding[] {
  const written = checkLayout(
    config.folders.map(({ key, path }) => ({ key: [...parseKeyPath(key), 'path'], path })),
    { key: ['state_dir'], path: config.stateDir },
  );
  const known = new Set(written.map(({ path }) => formatKeyPath(path)));
  return checkLayout(folders, stateDir).filter(({ path }) => !known.has(formatKeyPath(path)));
}
