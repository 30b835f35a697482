import { rename, rm } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { Selectable } from 'kysely';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../pipeline/file/store-errors.ts';
import {
  forgetLedgerElsewhere,
  noteLedgerElsewhere,
  placeElsewhere,
  writeLedgerId,
  makeStateDirectory,
  sizeOfUsableFile,
  stateDirectory,
} from '../../ledger/state-directory.ts';
import { LedgerError, refusal, translated } from '../../ledger/ledger-error.ts';
import { openLedger } from '../../ledger/ledger.ts';
import { derivedOf } from '../postgres/words.ts';
import { migrate } from '../postgres/migrations.ts';
import type { Ask, PostgresPool } from '../postgres/pool.ts';
import { factsOf, checksumOf } from '../../ledger/row.ts';
import type { FileTable } from '../../ledger/schema.ts';
import { openDatabase } from '../../ledger/sqlite/open-database.ts';
import { ledgerPath } from '../../ledger/sqlite/recovery.ts';
import { copyLedger, identityOf, requireEmpty, insertion } from './copy-ledger.ts';
import type { Copied, CopyOptions, Side, Table } from './copy-ledger.ts';
import type { StoredRow } from '../../ledger/work.ts';

export interface Fleet {
  readonly pool: PostgresPool;
  /** Display name, such as `PostgreSQL at db.example.com`. */
  readonly name: string;
  readonly user: string;
  /** Name of this host, recorded as the writer of the copied rows. */
  readonly hostName: string;
}

/**
 * Copies the ledger of a state directory to an empty database, completely or not at all. The ledger and the receipts
 * stay in place. An existing copy is compared and recorded, so the command can be repeated after an unknown outcome.
 *
 * @throws {LedgerError} with the reason
 */
export async function copyToPostgres(stateDir: string, fleet: Fleet, options: CopyOptions): Promise<readonly Copied[]> {
  await migrate(fleet);
  // Opening the ledger normally repairs crash damage and upgrades the tables.
  await (await openLedger(stateDir))[Symbol.asyncDispose]();
  const path = ledgerPath(stateDir);
  const copied = await withDatabase(path, (database) =>
    fleet.pool.transaction(async (ask) => {
      await requireNoMembers(ask, fleet);
      const to = postgresSide(ask, fleet.name, writtenBy(fleet.hostName));
      return inTransaction(database, () => copyLedger(sqliteSide(database, path), to, options));
    }),
  );
  await inStateDirectory(stateDir, () => noteLedgerElsewhere(stateDir, fleet.name));
  return copied;
}

/**
 * Copies the ledger of a database to a state directory, completely or not at all. The database stays unchanged. A
 * ledger file that was copied to a database earlier is renamed to `ledger.db.old-TIME`; a ledger file in use is not
 * replaced.
 *
 * @throws {LedgerError} with the reason; nothing was copied
 */
export async function copyToSqlite(fleet: Fleet, stateDir: string, options: CopyOptions): Promise<readonly Copied[]> {
  await makeStateDirectory(stateDir);
  const isOld = (await placeElsewhere(stateDir)) !== null;
  const path = ledgerPath(stateDir);
  if (!isOld && (await isLedgerFile(path)))
    await withDatabase(path, (database) => requireEmpty(sqliteSide(database, path)));
  // The copy stays in a separate file until it is complete. After a crash, dropcast starts with the previous ledger.
  const fresh = `${path}.copy`;
  await removeLedger(fresh);
  try {
    const { copied, id } = await copyToFile(fleet, { fresh, path }, options);
    await inStateDirectory(stateDir, async () => {
      // The id is written first; otherwise the next start would give the copy the identity of the previous ledger.
      await writeLedgerId(stateDir, id);
      if (isOld) await setAside(path);
      await rename(fresh, path);
      await forgetLedgerElsewhere(stateDir);
    });
    return copied;
  } finally {
    await removeLedger(fresh);
  }
}

async function copyToFile(fleet: Fleet, { fresh, path }: { fresh: string; path: string }, options: CopyOptions) {
  return withDatabase(fresh, async (database) => {
    const to = sqliteSide(database, path);
    const copied = await inTransaction(database, () =>
      // A read transaction sees one snapshot, even if a host that has been silent for a while resumes writing.
      fleet.pool.transaction(async (ask) => {
        await requireNoMembers(ask, fleet);
        const from = postgresSide(ask, fleet.name, (_, row) => row);
        return copyLedger(from, to, options);
      }, 'read'),
    );
    return { copied, id: await identityOf(to) };
  });
}

/** Whether the ledger file has content. An interrupted first start leaves an empty file. */
async function isLedgerFile(path: string): Promise<boolean> {
  return ((await sizeOfUsableFile(path)) ?? 0) > 0;
}

/** Renames an old ledger file, and the write-ahead log that a crash left. */
async function setAside(path: string): Promise<void> {
  const since = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  for (const end of ['', '-wal']) {
    if ((await sizeOfUsableFile(`${path}${end}`)) !== null) await rename(`${path}${end}`, `${path}.old-${since}${end}`);
  }
}

async function removeLedger(path: string): Promise<void> {
  for (const end of ['', '-wal']) await rm(`${path}${end}`, { force: true });
}

async function withDatabase<T>(path: string, work: (database: DatabaseSync) => Promise<T>): Promise<T> {
  const database = await openDatabase(path);
  try {
    return await work(database);
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    const isUnknown = error instanceof OutcomeUnknownError;
    const what = isUnknown
      ? 'it is unknown whether the ledger was copied; run the same command again, which finds out, before you start dropcast'
      : 'nothing was copied';
    throw new LedgerError(`${what}: ${error.message}`, { cause: error });
  } finally {
    database.close();
  }
}

/** Runs `work` on the state directory. @throws {LedgerError} if the file system refuses */
async function inStateDirectory(stateDir: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const refused = await refusal(stateDir, error, stateDirectory(stateDir));
    throw new LedgerError(`${refused.message}; run the same command again once that is fixed`, { cause: error });
  }
}

/**
 * Requires that no host has reported recently: running hosts report every few seconds. The lock keeps hosts from
 * starting before the copy is complete.
 */
async function requireNoMembers(ask: Ask, { name }: Fleet): Promise<void> {
  await ask('LOCK TABLE host IN SHARE ROW EXCLUSIVE MODE');
  const rows = await ask<{ name: string }>(
    `SELECT name FROM host WHERE stopped_at IS NULL AND heard_at > extract(epoch FROM clock_timestamp()) * 1000 - 15000 ORDER BY name`,
  );
  if (rows.length > 0)
    throw new LedgerError(
      `dropcast runs on ${rows.map((row) => row.name).join(', ')} with the ledger of ${name}: stop it there first; nothing was copied`,
    );
}

/** Adds the columns that PostgreSQL searches files by, and this host as the writer of the row. */
function writtenBy(host: string): Side['completed'] {
  return (table, row) => {
    if (table !== 'file') return row;
    const facts = factsOf({ ...row, checksum: null } as unknown as Selectable<FileTable>);
    return { ...row, ...derivedOf(facts), host };
  };
}

/** Tables with numbered rows. */
const numbered: ReadonlySet<Table> = new Set(['file', 'history', 'outbox', 'event']);

/** The ledger in the schema `dropcast`, accessed in the transaction of `ask`. */
function postgresSide(ask: Ask, name: string, completed: Side['completed']): Side {
  const asked: Side['ask'] = (text, values = []) => ask<StoredRow>(numberedMarks(text), values);
  return {
    name,
    ask: asked,
    completed,
    columns: async (table) => {
      const rows = await asked(
        `SELECT attname AS name FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0 AND NOT attisdropped
          AND attgenerated = '' ORDER BY attnum`,
        [table],
      );
      return rows.map((row) => String(row['name']));
    },
    insert: async (table, rows) => {
      const { text, values } = insertion(table, rows, numbered.has(table) ? 'OVERRIDING SYSTEM VALUE' : '');
      await asked(text, values);
      // New rows must get numbers after the copied ones.
      if (numbered.has(table))
        await asked(`SELECT setval(pg_get_serial_sequence(?, 'seq'), (SELECT max(seq) FROM ${table}))`, [table]);
    },
  };
}

/** Replaces SQLite's `?` placeholders with `$1`, `$2`, …; our statements contain no other `?`. */
function numberedMarks(text: string): string {
  let n = 0;
  return text.replaceAll('?', () => `$${(n += 1)}`);
}

/** A ledger in a file that no other process has open. */
function sqliteSide(database: DatabaseSync, name: string): Side {
  const ask: Side['ask'] = async (text, values = []) =>
    refusing(database, () => database.prepare(text).all(...values) as StoredRow[]);
  return {
    name,
    ask,
    columns: async (table) => {
      const rows = await ask('SELECT name FROM pragma_table_info(?)', [table]);
      return rows.map((row) => String(row['name']));
    },
    completed: (table, row) => (table === 'file' || table === 'history' ? { ...row, checksum: checksumOf(row) } : row),
    insert: async (table, rows) => {
      const { text, values } = insertion(table, rows);
      await ask(text, values);
    },
  };
}

/** Runs `work` in a transaction, which is rolled back if `work` throws. */
export async function inTransaction<T>(database: DatabaseSync, work: () => Promise<T>): Promise<T> {
  refusing(database, () => database.exec('BEGIN IMMEDIATE'));
  try {
    const result = await work();
    refusing(database, () => database.exec('COMMIT'));
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** @throws {LedgerUnavailableError} if a read or write fails because of the disk, memory or database */
function refusing<T>(database: DatabaseSync, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translated(error, database.location());
  }
}
