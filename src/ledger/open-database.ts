import { chmod, open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { explainOpening } from './explain-opening.ts';
import { damaged } from './lost-ledger.ts';
import { identify, LedgerError, LedgerInUseError, migrate } from './schema.ts';
import { sizeOfUsableFile } from './usable.ts';

/** How long to wait for other processes that read the ledger at this moment, and how long at most between two looks. */
const busy = { timeoutMs: 5_000, betweenMs: 100 } as const;

/**
 * Opens the ledger with what durability needs, and reads every setting back: a binding that silently keeps
 * `synchronous=NORMAL` loses acknowledged rows at a power cut (measured: 14,183 of 30,050), and each is a duplicate video.
 *
 * The file itself is never opened with `fs` in this process: closing such a descriptor drops SQLite's locks.
 *
 * @throws {LedgerError} when it cannot be used, is damaged, of another program or newer than this version
 * @throws {LedgerInUseError} when another process has had it for 5 s
 */
export async function openDatabase(path: string): Promise<DatabaseSync> {
  const end = performance.now() + busy.timeoutMs;
  for (;;) {
    try {
      return await openOnce(path);
    } catch (error) {
      if (!(error instanceof LedgerInUseError) || performance.now() > end) throw error;
      // Not SQLite's own waiting, which keeps the shared lock: two that wait so, wait for each other. Here it is let go.
      await sleep(Math.random() * busy.betweenMs);
    }
  }
}

async function openOnce(path: string): Promise<DatabaseSync> {
  let database: DatabaseSync | undefined;
  try {
    await createPrivate(path);
    for (const file of [path, `${path}-wal`]) await sizeOfUsableFile(file);
    database = new DatabaseSync(path);
    // Before WAL: without shared memory there is no `-shm` file and no second connection.
    require(database, 'locking_mode', 'EXCLUSIVE', 'exclusive');
    identify(database, path);
    require(database, 'journal_mode', 'WAL', 'wal');
    require(database, 'synchronous', 'FULL', 2);
    require(database, 'foreign_keys', 'ON', 1);
    require(database, 'wal_autocheckpoint', '1000', 1000);
    await check(database, path);
    migrate(database);
    await chmod(path, 0o600);
    return database;
  } catch (error) {
    database?.close();
    throw await explainOpening(error, path);
  }
}

/** Private from its first byte on, and so is the `-wal` beside it, which takes over the mode: both hold signed addresses. */
async function createPrivate(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    // A file that is there is not opened here: see above.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function require(database: DatabaseSync, name: string, value: string, expected: string | number): void {
  database.exec(`PRAGMA ${name} = ${value}`);
  const actual = Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  if (actual !== expected) throw new LedgerError(`SQLite keeps ${name} at ${String(actual)} instead of ${value}`);
}

async function check(database: DatabaseSync, path: string): Promise<void> {
  const found = Object.values(database.prepare('PRAGMA integrity_check(1)').get() ?? {})[0];
  // Its first line names the database, which is always `main`.
  if (found !== 'ok') throw await damaged(path, String(found).split('\n').at(-1) ?? '');
}
