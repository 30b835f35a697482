import { access, constants, realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { errnoSentence } from '../../errno.ts';
import { renderTitle } from '../../routing/template.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** A file that may be sent. */
export interface FileToSend {
  /** Absolute and without symbolic links: the typed path may be one, the upload refuses them. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly defaultTitle: string;
}

/**
 * Checks the file of `videos upload` first, so that a mistake leaves no record behind.
 *
 * @param name as typed
 * @throws {CommandError} with exit code 2 when it is missing, not a regular file, or not readable
 */
export async function fileToSend(shell: Pick<Shell, 'cwd'>, name: string): Promise<FileToSend> {
  if (name === '') throw new CommandError('the file name is empty: name a file to upload', exitCodes.usage);
  try {
    const path = await realpath(resolve(shell.cwd, name));
    const found = await stat(path);
    if (!found.isFile()) throw unsendable(name, found.isDirectory() ? 'it is a directory' : 'it is not a regular file');
    await access(path, constants.R_OK);
    const defaultTitle = renderTitle('{title}', { path: basename(name), modifiedMs: found.mtimeMs });
    return { path, sizeBytes: found.size, defaultTitle };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    // Node decodes arguments as UTF-8: a name in another encoding arrives with this replacement character and matches no file.
    const why = name.includes('\ufffd') ? 'its name is not UTF-8; rename it' : errnoSentence(error);
    throw unsendable(name, why);
  }
}

function unsendable(name: string, why: string): CommandError {
  return new CommandError(`cannot upload ${escapeControls(name)}: ${why}`, exitCodes.usage);
}
