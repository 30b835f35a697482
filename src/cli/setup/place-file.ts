import { copyFile, constants, link, lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import { errnoOf, errnoSentence } from '../../errno.ts';
import { readRegularFile } from '../../config/file-access.ts';
import { maskedText } from '../../config/masked-text.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { installFile } from '../systemd/install-file.ts';
import type { FileAccess } from '../systemd/install-file.ts';
import { CommandError, exitCodes } from '../shell.ts';
import { differenceOf } from './difference.ts';

/** A file to be written. */
export interface NewFile extends FileAccess {
  readonly path: string;
  readonly text: string;
  /** What is in it is never shown, and an earlier one is not kept. */
  readonly isSecret?: boolean;
  /** A text that counts as no file: the example of the package. */
  readonly replaceable?: string | null;
}

/** What writing a file would do. */
export type Effect =
  | { readonly is: 'new' }
  | { readonly is: 'nothing' }
  /** The lines in which they differ; none of a secret one. */
  | { readonly is: 'other'; readonly difference: readonly string[] };

/**
 * Refuses to replace a file that says something else, and shows the difference. Nothing is written, so that a command that writes several
 * files can ask for all of them first.
 *
 * @throws {CommandError} when the file must not be replaced
 */
export async function requireReplaceable(file: NewFile, isForced: boolean): Promise<void> {
  const effect = await effectOf(file);
  if (isForced || effect.is !== 'other') return;
  const what = file.isSecret === true ? 'already holds another key' : 'already exists with other content';
  const lines = [`${file.path} ${what}; --force replaces it`, ...effect.difference];
  throw new CommandError(lines.join('\n'), exitCodes.failed);
}

/** @throws {CommandError} when what is there cannot be read */
export async function effectOf(file: NewFile): Promise<Effect> {
  const before = await textOf(file.path);
  if (before === file.text) return { is: 'nothing' };
  if (before === null || before.trim() === '' || before === file.replaceable) return { is: 'new' };
  if (file.isSecret === true) return { is: 'other', difference: [] };
  const lines = differenceOf(maskedText(before).text, maskedText(file.text).text);
  return { is: 'other', difference: lines.map(escapeControls) };
}

/** Writes a file; what a person wrote there before is kept beside it. @returns what was done, in words */
export async function placeFile(file: NewFile): Promise<string> {
  const { is } = await effectOf(file);
  const kept = is === 'other' && file.isSecret !== true ? await keepEarlier(file.path) : null;
  const isWritten = await installFile(file.path, file.text, file);
  if (!isWritten) return `${file.path} stays as it is`;
  return `wrote ${file.path}${kept === null ? '' : `; the earlier one is ${basename(kept)}`}`;
}

/** Under the names that cp(1) and mv(1) use for numbered backups. A link keeps owner, permissions and time. */
async function keepEarlier(path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const kept = `${path}.~${number}~`;
    try {
      // Some shares and file systems have no hard links.
      await link(path, kept).catch((error: unknown) => {
        if (errnoOf(error) === 'EEXIST') throw error;
        return copyFile(path, kept, constants.COPYFILE_EXCL);
      });
      return kept;
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
  }
}

const mostBytes = 1024 * 1024;

/** Null when there is no file. */
async function textOf(path: string): Promise<string | null> {
  const read = await readRegularFile(path, mostBytes);
  if (read.ok) return read.bytes.toString('utf8');
  if (read.errno === 'ENOENT' && (await isNothing(path))) return null;
  throw new CommandError(`cannot read ${path}: ${read.message}`, exitCodes.failed);
}

/** Not even a link to nowhere. */
async function isNothing(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    return errnoSentence(error).includes('ENOENT');
  }
}
