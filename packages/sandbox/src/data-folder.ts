import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DataFolderError } from './store/database.ts';
import { requireNothingOfOthers } from './store/others-files.ts';

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
