import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DataFolderError } from './database.ts';
import { isMediaFolder } from './media-files.ts';

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
