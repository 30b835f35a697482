import { isUtf8 } from 'node:buffer';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { shellWord } from '../shell-word.ts';
import { checkSchema } from './check-schema.ts';
import { checkTree } from './checks.ts';
import { type Config, assemble } from './config.ts';
import { type ConfigDocument, MAX_CONFIG_SIZE, parseConfigDocument, unreadable } from './document.ts';
import type { Environment } from './environment.ts';
import { readRegularFile } from './file-access.ts';
import { type ConfigPlace, refuseForeignOwner } from './find.ts';
import { howToRead } from './installed-service.ts';
import { type ConfigPaths, configPaths } from './paths.ts';
import { type Finding, type Position, type Problem, byPlace, error, toProblem, warning } from './problem.ts';
import { formatKeyPath, parseKeyPath } from './raw-tree.ts';
import type { SecretSource } from './secret-source.ts';
import { secretsIn } from './secret.ts';
import { resolveSecrets } from './secrets.ts';
import { writtenSettings } from './settings.ts';
import { rulesTexts } from './trial.ts';

export interface Loaded {
  /** `null` if there is any error. */
  readonly config: Config | null;
  /**
   * The files and directories named in the configuration, as far as they can be read; `null` if the text is not YAML.
   */
  readonly paths: ConfigPaths | null;
  /** All problems, in file order. */
  readonly problems: readonly Problem[];
  /** Returns the position of a key's value, or of the nearest parent if the key is missing. */
  locate(key: string): Position;
}

/**
 * Reads a configuration: file → YAML with positions → schema and checks → {@link Config}. Mistakes never throw; all are
 * listed in `problems`. The configured folders need not exist; `checkDirectories` checks them.
 *
 * @param place the result of `findConfig`, or the path of a file that the user named
 * @param use `without key` neither reads nor checks the key, which an operator of a daemon may not be allowed to read
 */
export async function loadConfig(
  place: string | ConfigPlace,
  environment: Environment,
  use: 'with key' | 'without key' = 'with key',
): Promise<Loaded> {
  const { file, isImplicit } = typeof place === 'string' ? { file: place, isImplicit: false } : place;
  const configFile = resolve(environment.cwd, file);
  const { document, mode } = await readDocument({ file: configFile, isImplicit }, environment);
  // A file with only comments counts as an empty mapping.
  const tree = document.value ?? {};
  const locate = (key: string): Position => document.locate(parseKeyPath(key), 'value');
  if (document.problems.length > 0)
    return { config: null, paths: null, problems: textProblems(document, configFile), locate };

  const paths = configPaths(tree, configFile, environment);
  const source = { configFile, mode, environment };
  const { tree: resolvedTree, ...secrets } = await resolveSecrets(tree, source, use);
  const schema = checkSchema(resolvedTree);
  const findings = merge([
    document.findings,
    secrets.findings,
    schema.findings,
    checkTree(tree, paths, environment),
    // A command that only controls a daemon never sends the key.
    use === 'with key' ? await checkTrust(source) : [],
  ]);
  const problems = findings
    .map((finding) => toProblem(finding, configFile, finding.place ?? document.locate(finding.path, finding.at)))
    .toSorted(byPlace);
  if (schema.checked === null || problems.some(({ severity }) => severity === 'error'))
    return { config: null, paths, problems, locate };
  const lineOf = (key: string): number => locate(key).line;
  const assembled = assemble(schema.checked, { paths, environment, secrets, lineOf });
  const hidden = secretsIn(assembled).map((secret) => secret.reveal());
  // Without the key, there is no knowing which values to hide.
  const written = use === 'with key' ? writtenSettings(tree, lineOf, hidden) : [];
  const rulesText = use === 'with key' ? { rulesText: rulesTexts(tree, hidden) } : {};
  const config = { ...assembled, source: { written, warnings: problems, ...rulesText } };
  return { config, paths, problems, locate };
}

async function readDocument(
  { file, isImplicit }: ConfigPlace,
  environment: Environment,
): Promise<{ document: ConfigDocument; mode: number }> {
  const read = await readRegularFile(file, MAX_CONFIG_SIZE, isImplicit ? refuseForeignOwner : undefined);
  if (!read.ok) {
    const howTo = read.errno === 'EACCES' ? howToRead(file, environment) : '';
    return { document: unreadable(`cannot read the configuration: ${read.message}${howTo}`), mode: 0 };
  }
  const text = read.bytes.toString('utf8');
  if (isUtf8(read.bytes)) return { document: parseConfigDocument(text.replace(/^\ufeff/, '')), mode: read.mode };
  return {
    document: unreadable('not UTF-8; save the file as UTF-8', firstBadByte(read.bytes, text)),
    mode: read.mode,
  };
}

/** Finds the first invalid byte: the decoded text first differs from the bytes at the decoder's first replacement. */
function firstBadByte(bytes: Buffer, text: string): Position {
  const offset = Buffer.from(text).findIndex((byte, index) => byte !== bytes[index]);
  const before = bytes.subarray(0, offset).toString('utf8');
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
}

function textProblems(document: ConfigDocument, file: string): Problem[] {
  return document.problems
    .map((problem) => ({ ...problem, file, key: '', severity: 'error' as const }))
    .toSorted(byPlace);
}

/** Merges findings. Earlier sources win, because a later finding about the same key would only repeat the first. */
function merge(sources: readonly (readonly Finding[])[]): Finding[] {
  const taken = new Set<string>();
  return sources.flatMap((findings) => {
    const fresh = findings.filter(({ path }) => !taken.has(formatKeyPath(path)));
    for (const { path } of fresh) taken.add(formatKeyPath(path));
    return fresh;
  });
}

const OTHERS_WRITE = 0o002;
/** Sticky bit: only a file's owner may remove or replace it, as in /tmp. */
const STICKY = 0o1000;

/** Checks whether other users can change the configuration, because its author decides where the key is sent. */
async function checkTrust({ configFile, mode, environment }: SecretSource): Promise<readonly Finding[]> {
  return [
    ...checkMode(configFile, mode),
    ...(await checkDirectory(dirname(configFile))),
    ...checkEnvironment(environment),
  ];
}

function checkMode(configFile: string, mode: number): Finding[] {
  if ((mode & OTHERS_WRITE) === 0) return [];
  const message = `every user can change this file, and so send the key to any server (mode 0${mode.toString(8)}); run: chmod o-w ${shellWord(configFile)}`;
  return [error([], message)];
}

/**
 * Warns about a world-writable directory. Not an error, because containers mount configuration maps in such directories
 * and the files cannot be changed there.
 */
async function checkDirectory(directory: string): Promise<Finding[]> {
  const mode = await stat(directory).then(
    (found) => found.mode,
    () => 0,
  );
  if ((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0) return [];
  return [warning([], `every user can replace this file; run: chmod o-w ${shellWord(directory)}`)];
}

/**
 * Rejects `NODE_TLS_REJECT_UNAUTHORIZED=0`. dropcast always checks certificates, and a user who set this variable
 * expects otherwise.
 */
function checkEnvironment({ env }: Environment): Finding[] {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return [];
  const message =
    'NODE_TLS_REJECT_UNAUTHORIZED=0 is set, which would give the key to any server; unset it, and name your own certificate authority in tls.ca';
  return [error(['service'], message)];
}
