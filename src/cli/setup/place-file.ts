import { constants, copyFile, link, lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import { diff } from 'node:util';
import { readRegularFile } from '../../config/file-access.ts';
import { maskedText } from '../../config/masked-text.ts';
import { errnoOf, errnoSentence } from '../../errno.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { CommandError } from '../shell.ts';
import { type FileAccess, installFile } from '../systemd/install-file.ts';
import type { FolderAnswer } from './check-folder.ts';

/** A file to write, with its content and permissions. */
export interface NewFile extends FileAccess {
  readonly path: string;
  readonly text: string;
  /** Whether the content is secret: never displayed, and no earlier version is kept. */
  readonly isSecret?: boolean;
  /** Existing content that may be overwritten: the package's example. */
  readonly replaceable?: string | null;
}

/** What writing a file would change. */
type Effect =
  | { readonly is: 'new' }
  | { readonly is: 'nothing' }
  /** The lines that differ; empty for a secret file. */
  | { readonly is: 'other'; readonly difference: readonly string[] };

/**
 * Refuses to replace a file that has other content, and shows the difference. Writes nothing, so that a command can
 * check all its files before writing any.
 *
 * @throws {CommandError} when the file must not be replaced
 */
export async function requireReplaceable(file: NewFile, isForced: boolean): Promise<void> {
  const effect = await effectOf(file);
  if (isForced || effect.is !== 'other') return;
  const what = file.isSecret === true ? 'already holds another key' : 'already exists with other content';
  const lines = [`${file.path} ${what}; --force replaces it`, ...effect.difference];
  throw new CommandError(lines.join('\n'));
}

/** @throws {CommandError} when the existing file cannot be read */
async function effectOf(file: NewFile): Promise<Effect> {
  const before = await textOf(file.path);
  if (before === file.text) return { is: 'nothing' };
  if (before === null || before.trim() === '' || before === file.replaceable) return { is: 'new' };
  if (file.isSecret === true) return { is: 'other', difference: [] };
  const lines = differenceOf(maskedText(before).text, maskedText(file.text).text);
  return { is: 'other', difference: lines.map(escapeControls) };
}

/**
 * Writes a file and keeps the operator's earlier version next to it.
 *
 * @returns what was done, in words
 */
export async function placeFile(file: NewFile): Promise<string> {
  const { is } = await effectOf(file);
  const kept = is === 'other' && file.isSecret !== true ? await keepEarlier(file.path) : null;
  const isWritten = await installFile(file.path, file.text, file);
  if (!isWritten) return `${file.path} stays as it is`;
  return `wrote ${file.path}${kept === null ? '' : `; the earlier one is ${basename(kept)}`}`;
}

/**
 * Keeps the earlier version under a numbered backup name, as cp(1) and mv(1) do. A hard link preserves owner,
 * permissions and time.
 */
async function keepEarlier(path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const kept = `${path}.~${number}~`;
    try {
      // Some shares and file systems do not support hard links.
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

/** Lists the files and folders that setup would create. Changes nothing. */
export async function planLines(
  folder: FolderAnswer | null,
  files: readonly NewFile[],
  { isForced }: { readonly isForced: boolean },
): Promise<readonly string[]> {
  const lines = await Promise.all(files.map((file) => lineOf(file, isForced)));
  return [
    ...(folder === null
      ? []
      : [`Folder: ${folder.isThere ? `${folder.path} is there` : `would create ${folder.path}`}`]),
    ...lines.flat(),
  ];
}

async function lineOf(file: NewFile, isForced: boolean): Promise<readonly string[]> {
  const name = file.isSecret === true ? 'Key' : 'Configuration';
  const effect = await effectOf(file);
  if (effect.is === 'nothing') return [`${name}: ${file.path} stays as it is`];
  if (effect.is === 'new') return [`${name}: would write ${file.path}`];
  const how = isForced
    ? file.isSecret === true
      ? ''
      : ', and keep the earlier one next to it'
    : ', but only with --force';
  return [`${name}: would replace ${file.path}${how}`, ...effect.difference.map((line) => `  ${line}`)];
}

const mostBytes = 1024 * 1024;

/** Returns the file's text, or null if there is no file. @throws {CommandError} when it cannot be read */
export async function textOf(path: string): Promise<string | null> {
  const read = await readRegularFile(path, mostBytes);
  if (read.ok) return read.bytes.toString('utf8');
  if (read.errno === 'ENOENT' && (await isNothing(path))) return null;
  throw new CommandError(`cannot read ${path}: ${read.message}`);
}

/** True if there is nothing at the path, not even a dangling link. */
async function isNothing(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    return errnoSentence(error).includes('ENOENT');
  }
}

/** The lines that differ between two texts, marked as in diff(1): `- ` only in the first, `+ ` only in the second. */
export function differenceOf(before: string, after: string): readonly string[] {
  const marks = { '1': '-', '0': null, '-1': '+' } as const;
  return diff(before.split('\n'), after.split('\n')).flatMap(([side, line]) => {
    const mark = marks[side];
    return mark === null || line.trim() === '' ? [] : [`${mark} ${line}`];
  });
}
