import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MEDIA_FOLDERS } from './store/media-files.ts';
import { DataFolderError } from './store/database.ts';

/** Where the records are in a data folder. */
export function recordsIn(folder: string): string {
  return join(folder, 'sandbox.db');
}

/**
 * Makes the folder unless it is there. One whose files are somebody else's is refused: the sandbox removes what its records do not
 * know, and the folders that it would do that in have names (`incoming`, `media`) that other folders have too.
 * @throws DataFolderError
 */
export function makeDataFolder(folder: string): void {
  try {
    // Without `recursive`, which never comes back where nothing can be made, as below /proc (Node 26.10).
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    if (!existsSync(recordsIn(folder))) requireNothingOfOthers(folder);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof DataFolderError) throw error;
    const why = existsSync(dirname(folder)) ? error.message : `there is no folder ${dirname(folder)}`;
    throw new DataFolderError('unusable', `${folder} cannot be the data folder: ${why}`, { cause: error });
  }
}

function requireNothingOfOthers(folder: string): void {
  const taken = MEDIA_FOLDERS.map((name) => join(folder, name)).find(hasContent);
  if (taken === undefined) return;
  throw new DataFolderError(
    'unusable',
    `${folder} is no data folder of a sandbox, but has a folder ${basename(taken)} with files in it, which a sandbox would remove: choose an empty folder`,
  );
}

function hasContent(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0;
}
