import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { syncPath } from '../../disk/file-system.ts';
import { errnoOf } from '../../errno.ts';
import { translated } from '../ledger-error.ts';

/** Numbers of the copies to keep; `ledger.1.db` is the newest. */
const ages = [1, 2, 3, 4] as const;

/**
 * Creates a function that copies the ledger to `backups/` with SQLite's backup API, which is consistent at any moment,
 * and shifts older copies. A copy is on disk before it gets its name, so a crash leaves the older ones intact.
 *
 * @returns the function, which does nothing if nothing was written since the last copy. It rejects with
 *   `LedgerUnavailableError` if the disk refuses, and with the file system's error if `backups/` cannot be written
 */
export function createBackups(database: DatabaseSync, stateDir: string): () => Promise<void> {
  const directory = join(stateDir, 'backups');
  let copied = changesOf(database);
  return async () => {
    const changes = changesOf(database);
    if (changes === copied) return;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const fresh = join(directory, 'fresh.db');
    await copyTo(fresh, database);
    for (const age of ages.slice(0, -1).toReversed()) await shift(directory, age);
    await rename(fresh, nameOf(directory, 1));
    await syncPath(directory);
    copied = changes;
  };
}

/** @returns the paths of the copies, newest first */
export async function backupsOf(stateDir: string): Promise<readonly string[]> {
  const directory = join(stateDir, 'backups');
  const names = new Set(await readdir(directory).catch(() => []));
  return ages.map((age) => nameOf(directory, age)).filter((path) => names.has(basename(path)));
}

/** Writes a whole copy to disk or nothing: half a copy would keep a full disk full. */
async function copyTo(path: string, database: DatabaseSync): Promise<void> {
  const beside = ['-journal', '-wal', '-shm'].map((end) => `${path}${end}`);
  const remove = async (): Promise<void> => {
    for (const left of [path, ...beside]) await rm(left, { force: true });
  };
  await remove();
  try {
    await backup(database, path);
    markAsCopy(path);
    await chmod(path, 0o600);
    await syncPath(path);
  } catch (error) {
    await remove();
    throw translated(error, path);
  }
}

/** Marks a file as a copy, so that opening it later reveals a restored ledger. */
function markAsCopy(path: string): void {
  using copy = new DatabaseSync(path);
  copy.exec('UPDATE identity SET is_copy = 1');
}

function changesOf(database: DatabaseSync): number {
  return Number(Object.values(database.prepare('SELECT total_changes()').get() ?? {})[0]);
}

async function shift(directory: string, age: number): Promise<void> {
  try {
    await rename(nameOf(directory, age), nameOf(directory, age + 1));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

function nameOf(directory: string, age: number): string {
  return join(directory, `ledger.${age}.db`);
}
