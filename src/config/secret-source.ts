import { basename, dirname, join } from 'node:path';
import type { Secret, SecretOrigin } from './config.ts';
import { error, warning, type Finding } from './finding.ts';
import { serviceOf } from './installed-service.ts';
import type { KeyPath } from './key-path.ts';
import { resolvePath } from './paths.ts';
import { readRegularFile, type ReadResult } from './read-regular-file.ts';
import { secret } from './secrets.ts';
import { variable, type Surroundings } from './surroundings.ts';
import { TaggedValue } from './tagged-value.ts';

const MAX_SECRET_BYTES = 8 * 1024;
const USE_A_TAG = 'write !env NAME, !file PATH or !credential NAME instead';

/** A key of the configuration that stands for a secret, in the words that messages use. */
export interface SecretKey {
  readonly path: KeyPath;
  /** `key` */
  readonly noun: string;
  /** `the API key` */
  readonly what: string;
  /** Name for an environment variable or a credential. */
  readonly exampleVariable: string;
  readonly exampleCredential: string;
  /** What is wrong with a value that is printable ASCII without blanks, if anything; never with any part of it. */
  judge(value: string): string | null;
}

/** Where the configuration came from, as far as a secret needs it. */
export interface SecretSource {
  readonly configFile: string;
  /** Permission bits of that file. */
  readonly mode: number;
  readonly around: Surroundings;
}

export interface ResolvedSecret {
  readonly secret: Secret | null;
  readonly origin: SecretOrigin;
  readonly findings: readonly Finding[];
}

/** Finds the secret that stands for `key` in the configuration. No message holds any part of it. */
export async function resolveSecret(raw: unknown, key: SecretKey, source: SecretSource): Promise<ResolvedSecret> {
  const found = await lookUp(raw, key, source);
  const findings = found.warning === undefined ? [] : [warning(key.path, found.warning)];
  const origin = originOf(raw, source.around);
  if (found.value !== undefined) return { secret: secret(found.value), origin, findings };
  return { secret: null, origin, findings: found.refusal === undefined ? findings : [error(key.path, found.refusal)] };
}

function originOf(raw: unknown, around: Surroundings): SecretOrigin {
  if (!(raw instanceof TaggedValue) || raw.tag === 'file') return 'file';
  if (raw.tag === 'env') return 'environment';
  return variable(around, 'CREDENTIALS_DIRECTORY') === undefined ? 'file' : 'credential';
}

/** One of the three, or none when nothing was written. */
interface Found {
  readonly value?: string;
  readonly refusal?: string;
  readonly warning?: string;
}

async function lookUp(raw: unknown, key: SecretKey, source: SecretSource): Promise<Found> {
  if (raw instanceof TaggedValue) return behindTag(raw, key, source);
  if (raw === undefined) return {};
  if (raw === null) return { refusal: 'empty; write !env NAME, !file PATH or !credential NAME' };
  if (typeof raw !== 'string') return { refusal: 'must be text; put it in quotes' };
  return literal(raw, key, source);
}

async function behindTag({ tag, argument }: TaggedValue, key: SecretKey, source: SecretSource): Promise<Found> {
  if (tag === 'env') return fromEnvironment(argument, key, source.around);
  return tag === 'file' ? fromFile(argument, key, source) : fromCredential(argument, key, source);
}

function fromEnvironment(name: string, key: SecretKey, around: Surroundings): Found {
  if (!/^[A-Za-z_]\w*$/.test(name))
    return { refusal: `not a name of an environment variable; write it like !env ${key.exampleVariable}` };
  // Somebody may have written the secret itself here, so only what looks like a variable is repeated.
  const shown = /^[A-Z][A-Z0-9_]*$/.test(name)
    ? `the environment variable ${name}`
    : 'the environment variable named here';
  const value = around.env[name];
  if (value === undefined) return { refusal: `${shown} is not set; set it where dropcast starts` };
  return judged(value, shown, key);
}

async function fromFile(path: string, key: SecretKey, source: SecretSource): Promise<Found> {
  const file = resolvePath(path, source.configFile, source.around);
  return judgedFile(await readRegularFile(file, MAX_SECRET_BYTES), file, key);
}

function judgedFile(read: ReadResult, file: string, key: SecretKey): Found {
  if (!read.ok) return { refusal: `cannot read the ${key.noun} file ${file}: ${read.message}` };
  const found = judged(withoutLineEnd(read.bytes), `the ${key.noun} file ${file}`, key);
  if (found.value === undefined || (read.mode & 0o004) === 0) return found;
  return { ...found, warning: `every user can read the ${key.noun} file ${file}; chmod 600 it` };
}

async function fromCredential(name: string, key: SecretKey, source: SecretSource): Promise<Found> {
  if (/\//.test(name) || name === '.' || name === '..')
    return { refusal: `a credential has a name and no path; write it like !credential ${key.exampleCredential}` };
  const directory = variable(source.around, 'CREDENTIALS_DIRECTORY');
  if (directory === undefined) return besideTheConfiguration(name, key, source);
  // Owner and mode differ between versions of systemd and are its own affair.
  const read = await readRegularFile(join(directory, name), MAX_SECRET_BYTES);
  // In place of a file that is missing the units give an empty one.
  const howTo = isMissing(read) || isEmpty(read) ? howToGive(name, key, source.configFile) : null;
  if (howTo !== null) return { refusal: howTo };
  if (isMissing(read))
    return {
      refusal: `there is no credential ${name}; the unit needs LoadCredential=${name}:/path/of/the/${key.noun}`,
    };
  if (!read.ok) return { refusal: `cannot read the credential ${name}: ${read.message}` };
  return judged(withoutLineEnd(read.bytes), `the credential ${name}`, key);
}

/** What systemd reads for the service, for the commands of a person. A file that is not theirs to read stays so. */
async function besideTheConfiguration(name: string, key: SecretKey, { configFile }: SecretSource): Promise<Found> {
  const file = join(dirname(configFile), fileOf(name, configFile));
  const read = await readRegularFile(file, MAX_SECRET_BYTES);
  const howTo = isMissing(read) || isEmpty(read) ? howToGive(name, key, configFile) : null;
  if (howTo !== null) return { refusal: howTo };
  if (isMissing(read))
    return {
      refusal: `$CREDENTIALS_DIRECTORY is not set, as it is in a systemd service with LoadCredential=, and there is no ${file} to read instead; use !env NAME or !file PATH elsewhere`,
    };
  const found = judgedFile(read, file, key);
  return !read.ok && read.errno === 'EACCES' ? { refusal: `${found.refusal}; run the command with sudo` } : found;
}

/** The credential of the units (systemd/dropcast.service), which comes from `NAME.key` for `dropcast@NAME`. */
const UNIT_CREDENTIAL = 'api_key';

/** Each configuration has a key of its own: the one of another account would be sent to a service that it is not for. */
function fileOf(name: string, configFile: string): string {
  const isOfUnit = name === UNIT_CREDENTIAL && basename(configFile) !== 'dropcast.yaml';
  return isOfUnit ? `${basename(configFile, '.yaml')}.key` : name;
}

function isMissing(read: ReadResult): boolean {
  return !read.ok && read.errno === 'ENOENT';
}

function isEmpty(read: ReadResult): boolean {
  return read.ok && withoutLineEnd(read.bytes) === '';
}

/** What a person types who has not given the key to an installed service yet; null when it is another secret or service. */
function howToGive(name: string, key: SecretKey, configFile: string): string | null {
  const service = serviceOf(configFile);
  if (service === null || name !== UNIT_CREDENTIAL) return null;
  const { keyFile, name: unit } = service;
  return `${key.what} is missing: ${keyFile} is empty or not there. Write it with \`sudo install -m 600 /dev/stdin ${keyFile}\` (paste the key, Enter, Ctrl-D), then \`sudo systemctl restart ${unit}\``;
}

function literal(value: string, key: SecretKey, { mode }: SecretSource): Found {
  if (/^\$\{?\w+\}?$/.test(value)) return { refusal: 'variables are not replaced in YAML; write !env NAME' };
  if ((mode & 0o077) !== 0)
    return {
      refusal: `the ${key.noun} stands in this file, which other users can read (mode ${octal(mode)}); chmod 600 it, or ${USE_A_TAG}`,
    };
  return judged(value, `the ${key.noun}`, key);
}

function judged(value: string, where: string, key: SecretKey): Found {
  if (value === '') return { refusal: `${where} is empty; put ${key.what} there` };
  if (/\s/.test(value)) return { refusal: `${where} holds a blank or a line break; only the ${key.noun} may be there` };
  if (!/^[\x21-\x7e]+$/.test(value))
    return { refusal: `${where} holds a character that no ${key.noun} has; copy the ${key.noun} again` };
  const refusal = key.judge(value);
  return refusal === null ? { value } : { refusal: `${where} ${refusal}` };
}

/** Editors and `echo` end a file with a line break. latin1 keeps bytes that are no ASCII visible to the check. */
function withoutLineEnd(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/(?:\r?\n)+$/, '');
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
