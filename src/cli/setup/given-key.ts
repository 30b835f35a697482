import { readRegularFile } from '../../config/file-access.ts';
import { resolvePath } from '../../config/paths.ts';
import { CommandError } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { questionsOf } from './questions.ts';

/** Flags that name the source of the key. */
export interface KeyFlags {
  readonly keyFile?: string;
  readonly keyEnv?: string;
}

export interface KeyAnswer {
  readonly value: string;
  /** Where the key is already stored, as an absolute path or a variable; null if it was typed. */
  readonly from: { readonly file: string } | { readonly env: string } | null;
}

const mostKeyBytes = 8 * 1024;

/**
 * Reads the key named by a flag; null if the command has to ask for it. `-` reads standard input, or one line without
 * echo on a terminal.
 *
 * @throws {CommandError} when the key cannot be read
 */
export async function givenKey(shell: Shell, { keyFile, keyEnv }: KeyFlags): Promise<KeyAnswer | null> {
  if (keyEnv !== undefined) {
    const value = shell.env[keyEnv];
    if (value === undefined || value === '')
      throw new CommandError(`--key-env: the environment variable ${keyEnv} is not set`);
    return { value: value.trim(), from: { env: keyEnv } };
  }
  if (keyFile === undefined) return null;
  if (keyFile === '-') return { value: await typedOrPiped(shell), from: null };
  const file = resolvePath(keyFile, `${shell.cwd}/-`, shell);
  const read = await readRegularFile(file, mostKeyBytes);
  if (!read.ok) throw new CommandError(`--key-file: cannot read ${file}: ${read.message}`);
  return { value: read.bytes.toString('latin1').trim(), from: { file } };
}

/**
 * Reads the key from a pipe, or asks for it. Reading a terminal to its end would consume the answer to the next
 * question.
 */
async function typedOrPiped(shell: Shell): Promise<string> {
  const questions = questionsOf(shell);
  return (questions === null ? await readAll(shell.stdin) : await questions.secret('API key:')).trim();
}

async function readAll(stdin: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const part of stdin) {
    text += String(part);
    if (text.length > mostKeyBytes) throw new CommandError(`--key-file: standard input is longer than any key`);
  }
  return text;
}
