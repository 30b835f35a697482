import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import { assemble } from './assemble.ts';
import { checkSchema } from './check-schema.ts';
import { checkTrust } from './check-trust.ts';
import { checkTree } from './checks.ts';
import type { Config } from './config.ts';
import { MAX_CONFIG_SIZE, parseConfigDocument, unreadable, type ConfigDocument } from './document.ts';
import type { Environment } from './environment.ts';
import { readRegularFile } from './file-access.ts';
import { refuseForeignOwner, type ConfigPlace } from './find.ts';
import { howToRead } from './installed-service.ts';
import { configPaths, type ConfigPaths } from './paths.ts';
import { byPlace, toProblem, type Finding, type Position, type Problem } from './problem.ts';
import { formatKeyPath, parseKeyPath } from './raw-tree.ts';
import { secretsIn } from './secret.ts';
import { resolveSecrets } from './secrets.ts';
import { writtenSettings } from './settings.ts';

export interface Loaded {
  /** `null` when there is any error. */
  readonly config: Config | null;
  /** The files and directories it names, as far as they can be read; `null` when the text is not YAML. */
  readonly paths: ConfigPaths | null;
  /** All of them, in the order of the file. */
  readonly problems: readonly Problem[];
  /** Where the value of a key is, or the nearest parent of a key that is not written. */
  locate(key: string): Position;
}

/**
 * Reads a configuration: file → YAML with positions → schema and checks → {@link Config}. A mistake in it never throws: all of
 * them are in `problems`. The folders in it need not exist: `checkDirectories` looks at those.
 *
 * @param place what `findConfig` found. A path is a file that somebody named
 * @param use `without key` neither reads nor checks it: who steers a daemon need not be able to
 */
export async function loadConfig(
  place: string | ConfigPlace,
  environment: Environment,
  use: 'with key' | 'without key' = 'with key',
): Promise<Loaded> {
  const { file, isImplicit } = typeof place === 'string' ? { file: place, isImplicit: false } : place;
  const configFile = resolve(environment.cwd, file);
  const { document, mode } = await readDocument({ file: configFile, isImplicit }, environment);
  // A file with nothing but comments is a mapping without keys.
  const tree = document.value ?? {};
  const locate = (key: string): Position => document.locate(parseKeyPath(key), 'value');
  if (document.problems.length > 0)
    return { config: null, paths: null, problems: textProblems(document, configFile), locate };

  const paths = configPaths(tree, configFile, environment);
  const schema = checkSchema(tree);
  const source = { configFile, mode, environment };
  const { secrets, findings: secretFindings } = await resolveSecrets(tree, source, use);
  const findings = merge([
    document.findings,
    secretFindings,
    schema.findings,
    checkTree(tree, paths, environment),
    // Who only steers a daemon sends no key.
    use === 'with key' ? await checkTrust(source) : [],
  ]);
  const problems = findings
    .map((finding) => toProblem(finding, configFile, finding.place ?? document.locate(finding.path, finding.at)))
    .toSorted(byPlace);
  if (schema.checked === null || secrets === null || problems.some(({ severity }) => severity === 'error'))
    return { config: null, paths, problems, locate };
  const lineOf = (key: string): number => locate(key).line;
  const assembled = assemble(schema.checked, { paths, environment, secrets, lineOf });
  const hidden = secretsIn(assembled).map((secret) => secret.reveal());
  // Without the key nobody knows what to hide.
  const written = use === 'with key' ? writtenSettings(tree, lineOf, hidden) : [];
  const config = { ...assembled, source: { written, warnings: problems } };
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

/** The decoded text first differs from the bytes where the decoder put its first replacement. */
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

/** Earlier sources win: where one found something, a later one about the same key would only repeat it. */
function merge(sources: readonly (readonly Finding[])[]): Finding[] {
  const taken = new Set<string>();
  return sources.flatMap((findings) => {
    const fresh = findings.filter(({ path }) => !taken.has(formatKeyPath(path)));
    for (const { path } of fresh) taken.add(formatKeyPath(path));
    return fresh;
  });
}
