import { isUtf8 } from 'node:buffer';
import { access, lstat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { resolveApiKey } from './api-key.ts';
import { assemble } from './assemble.ts';
import { checkPaths } from './check-paths.ts';
import { checkOwner } from './check-owner.ts';
import { checkRules } from './check-rules.ts';
import { checkSchema } from './check-schema.ts';
import { checkTrust } from './check-trust.ts';
import type { Config } from './config.ts';
import { MAX_CONFIG_SIZE, parseConfigDocument, unreadable, type ConfigDocument } from './document.ts';
import { errnoOf } from './errno.ts';
import type { Finding, Position } from './finding.ts';
import { howToRead, installedService } from './installed-service.ts';
import { formatKeyPath, parseKeyPath, quote } from './key-path.ts';
import { property } from './raw-tree.ts';
import { premisesOf, type Premises } from './premises.ts';
import { readRegularFile } from './read-regular-file.ts';
import type { ResolvedSecret, SecretSource } from './secret-source.ts';
import { secret } from './secrets.ts';
import { variable, type Surroundings } from './surroundings.ts';
import { checkWebhookUse, resolveWebhookSecret } from './webhook-secret.ts';

export type { Surroundings } from './surroundings.ts';

/** One thing that is wrong with a configuration, for a person. */
export interface Problem {
  /** Absolute. */
  readonly file: string;
  /** From 1, like the column. */
  readonly line: number;
  readonly column: number;
  /** `folders[0].rules[1].chanel`; empty when the text as a whole is meant. */
  readonly key: string;
  readonly message: string;
  readonly severity: 'error' | 'warning';
  /** It may pass by itself, like a disk that is not mounted yet: a daemon starts all the same, and waits for that folder. */
  readonly passing?: true;
}

export interface Loaded {
  /** `null` when there is any error. */
  readonly config: Config | null;
  /** What it needs to find on the disk, as far as it can be read; `null` when the text is no YAML. */
  readonly premises: Premises | null;
  /** In the order of the file; all there are, not only the first. */
  readonly problems: readonly Problem[];
  /** Where the value of a key stands, or the nearest parent of a key that is not written. */
  locate(key: string): Position;
}

/** A configuration file, and whether anybody said that it is this one. */
export interface ConfigPlace {
  /** Relative to the current directory, or absolute. */
  readonly file: string;
  /** It only lay in the current directory, where others may have put it. */
  readonly isChanceFind: boolean;
}

/** Thrown when no configuration file is where one was looked for. */
export class ConfigNotFoundError extends Error {
  override readonly name = 'ConfigNotFoundError';
  readonly places: readonly string[];

  constructor(places: readonly string[]) {
    super(`no configuration file found; looked at ${places.join(', ')}`);
    this.places = places;
  }
}

/**
 * Reads, checks and completes a configuration. What is wrong with it is in `problems`, all at once; nothing is thrown for it.
 * The folders in it need not exist: `inspectSurroundings` looks at those.
 *
 * @param place what `findConfig` found. A path is a file that somebody named.
 * @param use `without key` neither reads nor judges it: whoever steers a daemon need not be able to.
 */
export async function loadConfig(
  place: string | ConfigPlace,
  around: Surroundings,
  use: 'with key' | 'without key' = 'with key',
): Promise<Loaded> {
  const { file, isChanceFind } = typeof place === 'string' ? { file: place, isChanceFind: false } : place;
  const configFile = resolve(around.cwd, file);
  const { document, mode } = await readDocument({ file: configFile, isChanceFind }, around);
  // A file of comments only is a mapping without keys.
  const tree = document.value ?? {};
  const locate = (key: string): Position => document.locate(parseKeyPath(key), 'value');
  if (document.problems.length > 0)
    return { config: null, premises: null, problems: textProblems(document, configFile), locate };

  const schema = checkSchema(tree);
  const { key, webhook } = await resolveSecrets(tree, { configFile, mode, around }, use);
  const findings = merge([
    document.findings,
    key.findings,
    webhook.findings,
    schema.findings,
    checkRules(tree),
    checkPaths(tree, configFile, around),
    checkWebhookUse(tree),
    // Whoever only steers a daemon sends no key.
    use === 'with key' ? await checkTrust(configFile, { mode, around }) : [],
  ]);
  const problems = findings.map((finding) => toProblem(finding, document, configFile)).toSorted(byPlace);
  const premises = premisesOf(tree, configFile, around);
  if (schema.checked === null || key.secret === null || problems.some(({ severity }) => severity === 'error'))
    return { config: null, premises, problems, locate };
  const lineOf = (ruleKey: string): number => locate(ruleKey).line;
  const secrets = { apiKey: key.secret, apiKeyFrom: key.origin, webhookSecret: webhook.secret };
  const config = assemble(schema.checked, { file: configFile, around, ...secrets, lineOf });
  return { config, premises, problems, locate };
}

const unread: ResolvedSecret = { secret: null, origin: 'file', findings: [] };

async function resolveSecrets(
  tree: unknown,
  source: SecretSource,
  use: 'with key' | 'without key',
): Promise<{ key: ResolvedSecret; webhook: ResolvedSecret }> {
  if (use === 'without key') return { key: { ...unread, secret: secret('') }, webhook: unread };
  const service = property(tree, 'service');
  return {
    key: await resolveApiKey(property(service, 'api_key'), source),
    webhook: await resolveWebhookSecret(property(service, 'webhook_secret'), source),
  };
}

/**
 * Where the configuration is, as an absolute path: `--config`, else `$DROPCAST_CONFIG`, else `./dropcast.yaml`, else
 * `/etc/dropcast/dropcast.yaml`. One that is named must be there; the others are tried in turn.
 *
 * @throws ConfigNotFoundError naming every place that was looked at.
 */
export async function findConfig(option: string | undefined, around: Surroundings): Promise<ConfigPlace> {
  const named = option ?? variable(around, 'DROPCAST_CONFIG');
  if (named !== undefined) {
    const file = resolve(around.cwd, named);
    if (await isThere(file)) return { file, isChanceFind: false };
    throw new ConfigNotFoundError([`${file} (from ${option === undefined ? '$DROPCAST_CONFIG' : '--config'})`]);
  }
  const here = resolve(around.cwd, 'dropcast.yaml');
  const { configFile: installed } = installedService(null);
  if ((await isThere(here)) && !(await isOutOfSight(here))) return { file: here, isChanceFind: here !== installed };
  if (await isThere(installed)) return { file: installed, isChanceFind: false };
  throw new ConfigNotFoundError([here, installed]);
}

/** `dropcast.yaml:12:5 folders[0].rules[1].chanel: unknown key, did you mean "channel"?`; the file relative to `cwd` if below it. */
export function formatProblem(problem: Problem, cwd: string): string {
  const inside = relative(cwd, problem.file);
  const isElsewhere = inside === '' || inside.startsWith('..') || isAbsolute(inside);
  // Below / is everything: `etc/dropcast/dropcast.yaml` would only be odd.
  const file = isElsewhere || cwd === '/' ? problem.file : inside;
  const shown = /[\p{C}\p{Zl}\p{Zp}]/u.test(file) ? quote(file, 4096) : file;
  const key = problem.key === '' ? '' : `${problem.key}: `;
  const severity = problem.severity === 'warning' ? 'warning: ' : '';
  return `${shown}:${problem.line}:${problem.column} ${key}${severity}${problem.message}`;
}

async function readDocument(
  { file, isChanceFind }: ConfigPlace,
  around: Surroundings,
): Promise<{ document: ConfigDocument; mode: number }> {
  const read = await readRegularFile(file, MAX_CONFIG_SIZE, isChanceFind ? checkOwner : undefined);
  if (!read.ok) {
    const howTo = read.errno === 'EACCES' ? howToRead(file, around) : '';
    return { document: unreadable(`cannot read the configuration: ${read.message}${howTo}`), mode: 0 };
  }
  const text = read.bytes.toString('utf8');
  if (isUtf8(read.bytes)) return { document: parseConfigDocument(text.replace(/^\ufeff/, '')), mode: read.mode };
  return {
    document: unreadable('not UTF-8; save the file in this encoding', firstBadByte(read.bytes, text)),
    mode: read.mode,
  };
}

/** What was decoded with replacements differs from the bytes first where the first replacement is. */
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

/** Earlier sources come first: where one found something, a later one about the same key would only repeat it. */
function merge(sources: readonly (readonly Finding[])[]): Finding[] {
  const taken = new Set<string>();
  return sources.flatMap((findings) => {
    const fresh = findings.filter(({ path }) => !taken.has(formatKeyPath(path)));
    for (const { path } of fresh) taken.add(formatKeyPath(path));
    return fresh;
  });
}

function toProblem({ path, at, place, message, severity }: Finding, document: ConfigDocument, file: string): Problem {
  return { file, ...(place ?? document.locate(path, at)), key: formatKeyPath(path), message, severity };
}

function byPlace(a: Problem, b: Problem): number {
  return a.line - b.line || a.column - b.column;
}

async function isThere(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (cause) {
    // Everything else, like a directory that may not be entered, is for the reader of the file to say.
    return !['ENOENT', 'ENOTDIR'].includes(errnoOf(cause) ?? '');
  }
}

/** In a directory that is closed to us: whether anything of this name is in it, nobody can say. */
async function isOutOfSight(file: string): Promise<boolean> {
  return lstat(file).then(
    () => false,
    (cause: unknown) => errnoOf(cause) === 'EACCES',
  );
}
