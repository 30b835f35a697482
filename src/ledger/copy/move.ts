import { rename } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { Selectable } from 'kysely';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../pipeline/file/store-errors.ts';
import { forgetLedgerElsewhere, noteLedgerElsewhere, placeElsewhere } from '../ledger-elsewhere.ts';
import { LedgerError } from '../ledger-error.ts';
import { writeLedgerId } from '../ledger-id.ts';
import { openLedger } from '../ledger.ts';
import { derivedOf } from '../postgres/derived.ts';
import { migrate } from '../postgres/migrations.ts';
import type { Ask, PostgresPool } from '../postgres/pool.ts';
import { factsOf } from '../row.ts';
import type { FileTable } from '../schema.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { ledgerPath } from '../sqlite/recovery.ts';
import { makeStateDirectory, sizeOfUsableFile } from '../state-directory.ts';
import { copyLedger, type Copied, type CopyOptions } from './copy-ledger.ts';
import { postgresSide } from './postgres-side.ts';
import type { Side } from './side.ts';
import { inTransaction, sqliteSide } from './sqlite-side.ts';

export interface Fleet {
  readonly pool: PostgresPool;
  /** `PostgreSQL at db.example.com` */
  readonly name: string;
  readonly user: string;
  /** This member, which is said to have written the rows. */
  readonly hostName: string;
}

/**
 * Copies the ledger of a state directory to an empty database, all of it or nothing. It stays where it is, and so do the receipts.
 *
 * @throws {LedgerError} with the reason; nothing was copied
 */
export async function copyToPostgres(stateDir: string, fleet: Fleet, options: CopyOptions): Promise<readonly Copied[]> {
  await migrate(fleet);
  // Opened once as always: what a crash left is put right, and the tables are of this version.
  await (await openLedger(stateDir))[Symbol.asyncDispose]();
  const copied = await withDatabase(stateDir, (database, name) =>
    fleet.pool.transaction(async (ask) => {
      await requireNoMembers(ask, fleet);
      const to = postgresSide(ask, fleet.name, writtenBy(fleet.hostName));
      return inTransaction(database, () => copyLedger(sqliteSide(database, name), to, options));
    }),
  );
  await noteLedgerElsewhere(stateDir, fleet.name);
  return copied;
}

/**
 * Copies the ledger of a database to a state directory, all of it or nothing. It stays where it is. A ledger that went to a database before is
 * set aside as `ledger.db.old-TIME`; one that is in use is not touched.
 *
 * @throws {LedgerError} with the reason; nothing was copied
 */
export async function copyToSqlite(fleet: Fleet, stateDir: string, options: CopyOptions): Promise<readonly Copied[]> {
  await makeStateDirectory(stateDir);
  if ((await placeElsewhere(stateDir)) !== null) await setAside(ledgerPath(stateDir));
  const copied = await withDatabase(stateDir, async (database, name) => {
    const copied = await inTransaction(database, () =>
      fleet.pool.transaction(async (ask) => {
        await requireNoMembers(ask, fleet);
        return copyLedger(
          postgresSide(ask, fleet.name, (_, row) => row),
          sqliteSide(database, name),
          options,
        );
      }),
    );
    // Beside the ledger, or the next start would give the copy the identity of the empty one.
    const row = database.prepare('SELECT ledger FROM identity').get();
    await writeLedgerId(stateDir, String(row?.['ledger']));
    return copied;
  });
  await forgetLedgerElsewhere(stateDir);
  return copied;
}

/** Beside it, with what a crash left. */
async function setAside(path: string): Promise<void> {
  const since = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  for (const file of [path, `${path}-wal`]) {
    if ((await sizeOfUsableFile(file)) !== null) await rename(file, `${file}.old-${since}`);
  }
}

async function withDatabase<T>(
  stateDir: string,
  work: (database: DatabaseSync, name: string) => Promise<T>,
): Promise<T> {
  const path = ledgerPath(stateDir);
  const database = await openDatabase(path);
  try {
    return await work(database, path);
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    const what =
      error instanceof OutcomeUnknownError ? 'it is unknown whether the ledger was copied' : 'nothing was copied';
    throw new LedgerError(`${what}: ${error.message}`, { cause: error });
  } finally {
    database.close();
  }
}

/** Hosts say every few seconds that they are there. None may begin before this is over. */
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

/** As if this host had written the row: with the columns that PostgreSQL finds files by. */
function writtenBy(host: string): Side['completed'] {
  return (table, row) => {
    if (table !== 'file') return row;
    const facts = factsOf({ ...row, checksum: null } as unknown as Selectable<FileTable>);
    return { ...row, ...derivedOf(facts), host };
  };
}
