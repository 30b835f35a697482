import { inTransaction, writeEra } from './database.ts';
import type { MediaFiles } from './media-files.ts';
import type { Records } from './records.ts';

/**
 * Replaces the records and all files in one moment, even if the process is killed.
 * @param paths of the new files by video id; see `MediaFiles.prepare` @param work erases the records and writes the new
 *   ones; if it throws, everything stays unchanged
 * @returns a promise that resolves when the old files are deleted
 */
export function replaceEverything(
  { records: { database }, mediaFiles }: { readonly records: Records; readonly mediaFiles: MediaFiles },
  paths: ReadonlyMap<string, string>,
  work: () => void,
): { readonly space: Promise<void> } {
  const next = mediaFiles.prepare(paths);
  try {
    inTransaction(database, () => {
      work();
      writeEra(database, next.number);
    });
  } catch (error) {
    next.discard();
    throw error;
  }
  return { space: next.begin() };
}
