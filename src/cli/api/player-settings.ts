import { resolve } from 'node:path';
import { readRegularFile } from '../../config/file-access.ts';
import { visible } from '../output/visible.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

const MAX_BYTES = 1024 * 1024;

/**
 * Reads `--player-settings`: a JSON object, or `@FILE` that holds one. What is in it is for the service to judge: its inner
 * structure is not shown (api-spec section 2.2).
 *
 * @throws {CommandError} with exit code 2
 */
export async function readPlayerSettings(
  shell: Pick<Shell, 'cwd'>,
  text: string,
): Promise<Readonly<Record<string, unknown>>> {
  const json = text.startsWith('@') ? await readText(resolve(shell.cwd, text.slice(1))) : text;
  const value = parse(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new CommandError('--player-settings must be a JSON object, like {"autoplay":true}, or @FILE', exitCodes.usage);
}

async function readText(file: string): Promise<string> {
  const read = await readRegularFile(file, MAX_BYTES);
  if (read.ok) return read.bytes.toString('utf8').replace(/^\ufeff/, '');
  throw new CommandError(`cannot read the player settings ${visible(file)}: ${read.message}`, exitCodes.usage);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const why = error instanceof Error ? visible(error.message) : 'no JSON';
    throw new CommandError(`--player-settings is no JSON: ${why}`, exitCodes.usage, { cause: error });
  }
}
