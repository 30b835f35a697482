import { basename, dirname, join } from 'node:path';
import { variable, type Environment } from './environment.ts';
import { readRegularFile, type ReadResult } from './file-access.ts';
import { serviceOf } from './installed-service.ts';
import { resolvePath } from './paths.ts';
import { shellWord } from '../shell-word.ts';
import { TaggedValue } from './raw-tree.ts';

const MAX_SECRET_BYTES = 8 * 1024;
const USE_A_TAG = 'write !env NAME, !file PATH or !credential NAME instead';

/** How messages describe a configuration key whose value is a secret. */
export interface SecretKey {
  /** Short name, such as `key`. */
  readonly noun: string;
  /** Full name, such as `the API key`. */
  readonly what: string;
  /** Example names for messages that explain the syntax. */
  readonly exampleVariable: string;
  readonly exampleCredential: string;
  /** Whether spaces and non-ASCII letters are allowed, as in a password. */
  readonly isText?: boolean;
  /**
   * Returns why a value is refused, or null. The reason never repeats any part of the value. Unless `isText` is set,
   * the value is already known to be printable ASCII without spaces.
   */
  refuse(value: string): string | null;
}

/** What is needed to resolve a secret, besides the tree. */
export interface SecretSource {
  readonly configFile: string;
  /** Permission bits of the configuration file. */
  readonly mode: number;
  readonly environment: Environment;
}

/** A value or a refusal; neither if the key is missing. */
export interface Found {
  readonly value?: string;
  readonly refusal?: string;
  readonly warning?: string;
}

/** Resolves a secret from its tag, or as written. Messages never contain any part of the secret. */
export async function lookUp(raw: unknown, key: SecretKey, source: SecretSource): Promise<Found> {
  if (raw instanceof TaggedValue) return behindTag(raw, key, source);
  if (raw === undefined) return {};
  if (raw === null) return { refusal: 'has no value; write !env NAME, !file PATH or !credential NAME' };
  if (typeof raw !== 'string') return { refusal: 'must be text; put it in quotes' };
  return literal(raw, key, source);
}

async function behindTag({ tag, argument }: TaggedValue, key: SecretKey, source: SecretSource): Promise<Found> {
  if (tag === 'env') return fromEnvironment(argument, key, source.environment);
  return tag === 'file' ? fromFile(argument, key, source) : fromCredential(argument, key, source);
}

function fromEnvironment(name: string, key: SecretKey, environment: Environment): Found {
  if (!/^[A-Za-z_]\w*$/.test(name))
    return { refusal: `not a variable name; write it like !env ${key.exampleVariable}` };
  // The secret itself may have been written here by mistake, so only text that looks like a variable is repeated.
  const shown = /^[A-Z][A-Z0-9_]*$/.test(name)
    ? `the environment variable ${name}`
    : 'the environment variable named here';
  const value = environment.env[name];
  if (value === undefined) return { refusal: `${shown} is not set; set it for the process that runs dropcast` };
  return checked(value, shown, key);
}

async function fromFile(path: string, key: SecretKey, source: SecretSource): Promise<Found> {
  const file = resolvePath(path, source.configFile, source.environment);
  return checkedFile(await readRegularFile(file, MAX_SECRET_BYTES), file, key);
}

function checkedFile(read: ReadResult, file: string, key: SecretKey): Found {
  if (!read.ok) return { refusal: `cannot read the ${key.noun} file ${file}: ${read.message}` };
  const found = checked(withoutLineEnd(read.bytes, key), `the ${key.noun} file ${file}`, key);
  if (found.value === undefined || (read.mode & 0o004) === 0) return found;
  return { ...found, warning: `every user can read the ${key.noun} file ${file}; run: chmod 600 ${shellWord(file)}` };
}

async function fromCredential(name: string, key: SecretKey, source: SecretSource): Promise<Found> {
  if (/\//.test(name) || name === '.' || name === '..')
    return { refusal: `a credential is a name, not a path; write it like !credential ${key.exampleCredential}` };
  const directory = variable(source.environment, 'CREDENTIALS_DIRECTORY');
  if (directory === undefined) return besideTheConfiguration(name, key, source);
  // Permissions are not checked: systemd sets owner and mode, and they vary with its version.
  const read = await readRegularFile(join(directory, name), MAX_SECRET_BYTES);
  // The units supply an empty credential if the key file is missing.
  const howTo = isMissing(read) || isEmpty(read) ? howToGive(name, key, source.configFile) : null;
  if (howTo !== null) return { refusal: howTo };
  if (isMissing(read))
    return {
      refusal: `there is no credential ${name}; add LoadCredential=${name}:/path/to/the/${key.noun} to the unit`,
    };
  if (!read.ok) return { refusal: `cannot read the credential ${name}: ${read.message}` };
  return checked(withoutLineEnd(read.bytes, key), `the credential ${name}`, key);
}

/**
 * Reads the credential for an operator's command, from the file that systemd loads for the service. Users without
 * access need sudo.
 */
async function besideTheConfiguration(name: string, key: SecretKey, { configFile }: SecretSource): Promise<Found> {
  const file = join(dirname(configFile), fileOf(name, configFile));
  const read = await readRegularFile(file, MAX_SECRET_BYTES);
  const howTo = isMissing(read) || isEmpty(read) ? howToGive(name, key, configFile) : null;
  if (howTo !== null) return { refusal: howTo };
  if (isMissing(read))
    return {
      refusal: `no credentials here: this is not a systemd service with LoadCredential= ($CREDENTIALS_DIRECTORY is not set), and ${file} does not exist either; use !env NAME or !file PATH`,
    };
  const found = checkedFile(read, file, key);
  return !read.ok && read.errno === 'EACCES' ? { refusal: `${found.refusal}; run the command with sudo` } : found;
}

/** Credential name in the units (systemd/dropcast.service). `dropcast@NAME` loads it from `NAME.key`. */
const UNIT_CREDENTIAL = 'api_key';

/**
 * Name of the file with a credential. Each configuration has its own key file, so that one account's key never reaches
 * another service.
 */
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

/** Explains how to give an installed service its key; null for other secrets and services. */
function howToGive(name: string, key: SecretKey, configFile: string): string | null {
  const service = serviceOf(configFile);
  if (service === null || name !== UNIT_CREDENTIAL) return null;
  const { keyFile, name: unit } = service;
  return `${key.what} is missing: ${keyFile} is empty or does not exist. Write it with \`sudo install -m 600 /dev/stdin ${keyFile}\` (paste the key, Enter, Ctrl-D), then \`sudo systemctl restart ${unit}\``;
}

function literal(value: string, key: SecretKey, { mode, configFile }: SecretSource): Found {
  if (/^\$\{?\w+\}?$/.test(value)) return { refusal: 'dropcast does not expand variables in YAML; write !env NAME' };
  if ((mode & 0o077) !== 0)
    return {
      refusal: `the ${key.noun} is in this file, which other users can read (mode ${octal(mode)}): ${USE_A_TAG}, or close the file; run: chmod 600 ${shellWord(configFile)}`,
    };
  return checked(value, `the ${key.noun}`, key);
}

function checked(value: string, where: string, key: SecretKey): Found {
  if (value === '') return { refusal: `${where} is empty; put ${key.what} there` };
  const refusal = mistakeIn(value, key) ?? key.refuse(value);
  return refusal === null ? { value } : { refusal: `${where} ${refusal}` };
}

function mistakeIn(value: string, { noun, isText }: SecretKey): string | null {
  const alone = `put nothing but the ${noun} there`;
  if (isText === true) return /\p{Cc}/u.test(value) ? `contains a line break or control character; ${alone}` : null;
  if (/\s/.test(value)) return `contains a space or line break; ${alone}`;
  if (!/^[\x21-\x7e]+$/.test(value)) return `contains a character that no ${noun} has; copy the ${noun} again`;
  return null;
}

/**
 * Removes the line break with which editors and `echo` end a file. Decoding as latin1 keeps non-ASCII bytes visible to
 * the check.
 */
function withoutLineEnd(bytes: Buffer, { isText }: Pick<SecretKey, 'isText'> = {}): string {
  return bytes.toString(isText === true ? 'utf8' : 'latin1').replace(/(?:\r?\n)+$/, '');
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
