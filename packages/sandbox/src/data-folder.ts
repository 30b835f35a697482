import { existsSync, mkdirSync, statSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DataFolderError } from './store/database.ts';
import { isMediaFolder } from './store/media-files.ts';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';

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

/**
 * How to reach a running sandbox from its own machine. Stored as `sandbox.json` in the data folder, readable only by
 * its owner.
 */
type Announcement = z.output<typeof announcement>;

const address = z.url({ protocol: /^https?$/ });
const announcement = z.object({
  v: z.literal(1),
  pid: z.int().min(1),
  base_url: address,
  admin_url: address,
  admin_token: z.string(),
  page_url: address,
  ca_path: z.string().optional(),
});

/** Writes the announcement atomically: a concurrent reader sees the previous one. */
export async function announce(dataDir: string, facts: Announcement): Promise<void> {
  const path = pathIn(dataDir);
  await rm(`${path}.new`, { force: true }); // the mode below is for a new file only
  await writeFile(`${path}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(`${path}.new`, path);
}

export async function withdrawAnnouncement(dataDir: string): Promise<void> {
  await rm(pathIn(dataDir), { force: true });
}

/** @returns undefined if the announcement is missing or unreadable. A killed sandbox leaves a stale one behind. */
export async function readAnnouncement(dataDir: string): Promise<Announcement | undefined> {
  try {
    return announcement.safeParse(JSON.parse(await readFile(pathIn(dataDir), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'sandbox.json');
}
