import { join } from 'node:path';
import type { Secret } from './config.ts';
import { error, warning, type Finding } from './finding.ts';
import type { KeyPath } from './key-path.ts';
import { resolvePath } from './paths.ts';
import { readRegularFile } from './read-regular-file.ts';
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
  readonly findings: readonly Finding[];
}

/** Finds the secret that stands for `key` in the configuration. No message holds any part of it. */
export async function resolveSecret(raw: unknown, key: SecretKey, source: SecretSource): Promise<ResolvedSecret> {
  const found = await lookUp(raw, key, source);
  const findings = found.warning === undefined ? [] : [warning(key.path, found.warning)];
  if (found.value !== undefined) return { secret: secret(found.value), findings };
  return { secret: null, findings: found.refusal === undefined ? findings : [error(key.path, found.refusal)] };
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
  return tag === 'file' ? fromFile(argument, key, source) : fromCredential(argument, key, source.around);
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
  const read = await readRegularFile(file, MAX_SECRET_BYTES);
  if (!read.ok) return { refusal: `cannot read the ${key.noun} file ${file}: ${read.message}` };
  const found = judged(withoutLineEnd(read.bytes), `the ${key.noun} file ${file}`, key);
  if (found.value === undefined || (read.mode & 0o004) === 0) return found;
  return { ...found, warning: `every user can read the ${key.noun} file ${file}; chmod 600 it` };
}

async function fromCredential(name: string, key: SecretKey, around: Surroundings): Promise<Found> {
  if (/\//.test(name) || name === '.' || name === '..')
    return { refusal: `a credential has a name and no path; write it like !credential ${key.exampleCredential}` };
  const directory = variable(around, 'CREDENTIALS_DIRECTORY');
  if (directory === undefined)
    return {
      refusal:
        '$CREDENTIALS_DIRECTORY is not set: only a systemd service with LoadCredential= has it; use !env NAME or !file PATH elsewhere',
    };
  // Owner and mode differ between versions of systemd and are its own affair.
  const read = await readRegularFile(join(directory, name), MAX_SECRET_BYTES);
  if (!read.ok)
    return {
      refusal: `cannot read the credential ${name}: ${read.message}; the unit needs LoadCredential=${name}:/path/of/the/${key.noun}`,
    };
  return judged(withoutLineEnd(read.bytes), `the credential ${name}`, key);
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
