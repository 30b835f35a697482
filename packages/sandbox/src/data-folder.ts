import { existsSync, mkdirSync, statSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DataFolderError } from './store/database.ts';
import { isMediaFolder } from './store/media-files.ts';

/** Returns the path of the records in a data folder. */
export function recordsIn(folder: string): string {
  return join(folder, 'sandbox.db');
}

/**
 * Creates the folder if it does not exist. Refuses a folder that contains other programs' files, because the sandbox
 * deletes files missing from its records, in subfolders with common names (`incoming`, `media`).
 * @throws DataFolderError
 */
export function makeDataFolder(folder: string): void {
  try {
    // Not `recursive`, which hangs where nothing can be created, such as below /proc (Node 26.10).
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    if (isEmpty(recordsIn(folder))) requireNothingOfOthers(folder);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof DataFolderError) throw error;
    const why = existsSync(dirname(folder)) ? error.message : `the folder ${dirname(folder)} does not exist`;
    throw new DataFolderError('unusable', `cannot use ${folder} as data folder: ${why}`, { cause: error });
  }
}

/** Whether the records are missing or a zero-byte file, in which case they list none of the folder's files. */
function isEmpty(records: string): boolean {
  return (statSync(records, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/**
 * Refuses a folder that has files but no records yet: the new records would know none of the files, so the sandbox
 * would delete them. @throws DataFolderError
 */
export function requireNothingOfOthers(folder: string): void {
  const taken = readdirSync(folder).find((name) => isMediaFolder(name) && hasContent(join(folder, name)));
  if (taken === undefined) return;
  throw new DataFolderError(
    'unusable',
    `${folder} is not a data folder of a sandbox, and the sandbox would remove the files in its folder ${taken}. Choose an empty folder.`,
  );
}

function hasContent(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0;
}
