import { readFile } from 'node:fs/promises';
import { errnoOf } from '../../config/errno.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { installFile } from '../systemd/install-file.ts';
import type { FileAccess } from '../systemd/install-file.ts';
import { CommandError, exitCodes } from '../shell.ts';
import { differenceOf } from './difference.ts';

/** A file to be written. */
export interface NewFile extends FileAccess {
  readonly path: string;
  readonly text: string;
  /** What is in it is never shown. */
  readonly isSecret?: boolean;
  /** A text that counts as no file: the example of the package. */
  readonly replaceable?: string | null;
}

/**
 * Refuses to replace a file that says something else, and shows the difference. Nothing is written, so that a command that writes several
 * files can ask for all of them first.
 *
 * @throws {CommandError} when the file must not be replaced
 */
export async function requireReplaceable(file: NewFile, isForced: boolean): Promise<void> {
  const before = await textOf(file.path);
  if (isForced || before === null || before.trim() === '' || before === file.text || before === file.replaceable)
    return;
  const difference = file.isSecret === true ? [] : differenceOf(before, file.text).map(escapeControls);
  const what = file.isSecret === true ? 'already holds another key' : 'already exists with other content';
  const lines = [`${file.path} ${what}; --force replaces it`, ...difference];
  throw new CommandError(lines.join('\n'), exitCodes.failed);
}

/** @returns what was done, in words */
export async function placeFile(file: NewFile): Promise<string> {
  return (await installFile(file.path, file.text, file)) ? `wrote ${file.path}` : `${file.path} stays as it is`;
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}
