import { join } from 'node:path';
import type { Secret } from './config.ts';
import { error, warning, type Finding } from './finding.ts';
import { resolvePath } from './paths.ts';
import { readRegularFile } from './read-regular-file.ts';
import { secret } from './secrets.ts';
import { variable, type Surroundings } from './surroundings.ts';
import { TaggedValue } from './tagged-value.ts';

const PATH = ['service', 'api_key'] as const;
const MAX_KEY_BYTES = 8 * 1024;
const USE_A_TAG = 'write !env NAME, !file PATH or !credential NAME instead';

/** Where the configuration came from, as far as the key needs it. */
export interface KeySource {
  readonly configFile: string;
  /** Permission bits of that file. */
  readonly mode: number;
  readonly around: Surroundings;
}

export interface ResolvedKey {
  readonly secret: Secret | null;
  readonly findings: readonly Finding[];
}

/** Finds the key that `service.api_key` stands for. No message holds any part of it. */
export async function resolveApiKey(raw: unknown, source: KeySource): Promise<ResolvedKey> {
  if (raw instanceof TaggedValue) return resolveTag(raw, source);
  if (raw === undefined) return { secret: null, findings: [] };
  if (raw === null) return refused('empty; write !env NAME, !file PATH or !credential NAME');
  if (typeof raw !== 'string') return refused('must be text; put it in quotes');
  return literal(raw, source);
}

async function resolveTag({ tag, argument }: TaggedValue, source: KeySource): Promise<ResolvedKey> {
  if (tag === 'env') return fromEnvironment(argument, source.around);
  return tag === 'file' ? fromFile(argument, source) : fromCredential(argument, source.around);
}

function fromEnvironment(name: string, around: Surroundings): ResolvedKey {
  if (!/^[A-Za-z_]\w*$/.test(name))
    return refused('not a name of an environment variable; write it like !env DROPCAST_API_KEY');
  // Somebody may have written the key itself here, so only what looks like a variable is repeated.
  const shown = /^[A-Z][A-Z0-9_]*$/.test(name)
    ? `the environment variable ${name}`
    : 'the environment variable named here';
  const value = around.env[name];
  if (value === undefined) return refused(`${shown} is not set; set it where dropcast starts`);
  return accepted(value, shown);
}

async function fromFile(path: string, source: KeySource): Promise<ResolvedKey> {
  const file = resolvePath(path, source.configFile, source.around);
  const read = await readRegularFile(file, MAX_KEY_BYTES);
  if (!read.ok) return refused(`cannot read the key file ${file}: ${read.message}`);
  const key = accepted(withoutLineEnd(read.bytes), `the key file ${file}`);
  if (key.secret === null || (read.mode & 0o004) === 0) return key;
  const open = warning(PATH, `every user can read the key file ${file}; chmod 600 it`);
  return { ...key, findings: [open] };
}

async function fromCredential(name: string, around: Surroundings): Promise<ResolvedKey> {
  if (/\//.test(name) || name === '.' || name === '..')
    return refused('a credential has a name and no path; write it like !credential api_key');
  const directory = variable(around, 'CREDENTIALS_DIRECTORY');
  if (directory === undefined)
    return refused(
      `$CREDENTIALS_DIRECTORY is not set: only a systemd service with LoadCredential= has it; use !env NAME or !file PATH elsewhere`,
    );
  // Owner and mode differ between versions of systemd and are its own affair.
  const read = await readRegularFile(join(directory, name), MAX_KEY_BYTES);
  if (!read.ok)
    return refused(
      `cannot read the credential ${name}: ${read.message}; the unit needs LoadCredential=${name}:/path/of/the/key`,
    );
  return accepted(withoutLineEnd(read.bytes), `the credential ${name}`);
}

function literal(value: string, { mode }: KeySource): ResolvedKey {
  if (/^\$\{?\w+\}?$/.test(value)) return refused('variables are not replaced in YAML; write !env NAME');
  if ((mode & 0o077) !== 0)
    return refused(
      `the key stands in this file, which other users can read (mode ${octal(mode)}); chmod 600 it, or ${USE_A_TAG}`,
    );
  return accepted(value, 'the key');
}

/** A key goes into a header as it is: printable ASCII without blanks (RFC 9110, 5.5 and RFC 6750, 2.1). */
function accepted(value: string, what: string): ResolvedKey {
  if (value === '') return refused(`${what} is empty; put the API key there`);
  if (/\s/.test(value)) return refused(`${what} holds a blank or a line break; only the key may be there`);
  if (!/^[\x21-\x7e]+$/.test(value)) return refused(`${what} holds a character that no key has; copy the key again`);
  return { secret: secret(value), findings: [] };
}

function refused(message: string): ResolvedKey {
  return { secret: null, findings: [error(PATH, message)] };
}

/** Editors and `echo` end a file with a line break. latin1 keeps bytes that are no ASCII visible to the check. */
function withoutLineEnd(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/(?:\r?\n)+$/, '');
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
