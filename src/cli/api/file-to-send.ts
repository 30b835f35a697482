import { access, constants, realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { errnoSentence } from '../../config/errno.ts';
import { renderTitle } from '../../routing/template.ts';
import { visible } from '../output/visible.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** A file that may be sent. */
export interface FileToSend {
  /** Absolute, without links: what is typed may be one, what is sent never is. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly defaultTitle: string;
}

/**
 * Looks at the file of `videos upload`, so that a mistake leaves no record behind.
 *
 * @param name as it was typed
 * @throws {CommandError} with exit code 2 when it is not there, no regular file, or may not be read
 */
export async function fileToSend(shell: Pick<Shell, 'cwd'>, name: string): Promise<FileToSend> {
  if (name === '') throw new CommandError('no file to send was named: its name is empty', exitCodes.usage);
  try {
    const path = await realpath(resolve(shell.cwd, name));
    const found = await stat(path);
    if (!found.isFile()) throw unsendable(name, found.isDirectory() ? 'is a directory' : 'is no regular file');
    await access(path, constants.R_OK);
    const defaultTitle = renderTitle('{title}', { path: basename(name), modifiedMs: found.mtimeMs });
    return { path, sizeBytes: found.size, defaultTitle };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    // Node reads arguments as UTF-8: what is none of it came as this sign, and leads nowhere.
    const why = name.includes('\ufffd') ? 'its name is not UTF-8; rename it' : errnoSentence(error);
    throw unsendable(name, why);
  }
}

function unsendable(name: string, why: string): CommandError {
  return new CommandError(`cannot send ${visible(name)}: ${why}`, exitCodes.usage);
}
