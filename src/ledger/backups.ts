import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { backup } from 'node:sqlite';
import type { DatabaseSync } from 'node:sqlite';
import { syncPath } from './sync-path.ts';

/** Copies kept, the newest being `ledger.1.db`. */
const generations = 4;

/**
 * Copies the ledger to `backups/` through SQLite's own backup, which is whole at any moment, and shifts the older copies on;
 * nothing happens while nothing was written. A copy is on disk before it takes its name; a crash in between leaves the older ones.
 *
 * @returns the work; it rejects when the directory cannot be written
 */
export function createBackups(database: DatabaseSync, stateDir: string): () => Promise<void> {
  const directory = join(stateDir, 'backups');
  let copied = changesOf(database);
  return async () => {
    const changes = changesOf(database);
    if (changes === copied) return;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const fresh = join(directory, 'fresh.db');
    await rm(fresh, { force: true });
    await backup(database, fresh);
    await syncPath(fresh);
    for (let age = generations - 1; age >= 1; age -= 1) await shift(directory, age);
    await rename(fresh, nameOf(directory, 1));
    await syncPath(directory);
    copied = changes;
  };
}

function changesOf(database: DatabaseSync): number {
  return Number(Object.values(database.prepare('SELECT total_changes()').get() ?? {})[0]);
}

async function shift(directory: string, age: number): Promise<void> {
  try {
    await rename(nameOf(directory, age), nameOf(directory, age + 1));
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing) throw error;
  }
}

function nameOf(directory: string, age: number): string {
  return join(directory, `ledger.${age}.db`);
}
