import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type {
  AdoptionStore,
  CreatedStore,
  Claims,
  FeedStore,
  FileStore,
  FirstStartStore,
  IntakeStore,
  LeftoverStore,
  NoteStore,
  PauseStore,
  PublishStore,
  QueueStore,
  RetentionStore,
} from '../pipeline/file/ports.ts';
import type { RowStore } from '../pipeline/file/row-groups.ts';
import type { CountStore, CountsStore, SelectionStore } from '../pipeline/file/selection.ts';
import type { AuditReader, AuditStore } from '../pipeline/file/audit.ts';
import { catchUp } from './catch-up.ts';
import { createClaims } from './claims.ts';
import type { EventRows, HistoryRows } from './history.ts';
import { settleRequests } from './leftovers.ts';
import type { NewsRows } from './news-rows.ts';
import { portsOf } from './ports-of.ts';
import type { LineRows } from './queues.ts';
import { createBudgetRow, createCounterRow, createRoots } from './records.ts';
import type { BudgetRow, CounterRow, ExpectedRows, RootRows } from './records.ts';
import { DamagedRowError } from './row.ts';
import type { LedgerTables } from './schema.ts';
import type { SnapshotStore } from './snapshot.ts';
import { createBackups } from './sqlite/backups.ts';
import { explainOpening, isLedgerThere, ledgerPath } from './sqlite/recovery.ts';
import { connectTo } from './sqlite/connection.ts';
import type { SqliteConnection } from './sqlite/connection.ts';
import { openDatabase, requireSound, verify, wasClosed } from './sqlite/open-database.ts';
import { repairRows } from './sqlite/repair.ts';
import { makeStateDirectory, readLedgerId, requireLedgerHere, writeLedgerId } from './state-directory.ts';
import type { TotalsStore } from './totals.ts';
import type { LedgerView } from './view.ts';

/** Every port of the ledger. A write is on disk when its promise resolves. */
export interface Ledger
  extends
    FileStore,
    CountStore,
    CountsStore,
    RowStore,
    QueueStore,
    Claims,
    PublishStore,
    FeedStore,
    PauseStore,
    NoteStore,
    RetentionStore,
    IntakeStore,
    LeftoverStore,
    CreatedStore,
    FirstStartStore,
    AdoptionStore,
    AuditStore,
    AuditReader,
    LedgerView,
    LineRows,
    HistoryRows,
    EventRows,
    ExpectedRows,
    SnapshotStore,
    TotalsStore,
    AsyncDisposable {
  readonly budget: BudgetRow;
  readonly roots: RootRows;
  readonly counter: CounterRow;
  readonly selection: SelectionStore;
  readonly news: NewsRows;
  /** Identifies the ledger. A copy has the same id. */
  readonly id: string;
  /** A sentence for each repair made when the ledger was opened. The ledger is usable. */
  readonly repairs: readonly string[];
  /**
   * Runs the damage check that a hasty open skipped. Call it before any other use.
   *
   * @returns a sentence for each repair
   * @throws {LedgerError} if damage remains
   */
  verify(): Promise<readonly string[]>;
  /**
   * Writes a copy to `backups/`, unless nothing was written since the last copy.
   * @throws {LedgerUnavailableError} if the disk refuses
   */
  backUp(): Promise<void>;
}

/**
 * Opens an existing ledger for commands that only read.
 *
 * @returns null if nothing was ever written
 * @throws {LedgerError} see `openLedger`
 */
export async function openExistingLedger(stateDir: string): Promise<Ledger | null> {
  await requireLedgerHere(stateDir);
  return (await isLedgerThere(stateDir)) ? openLedger(stateDir) : null;
}

/**
 * Opens or creates the ledger, which holds the durable rows of all files. Only one process may have it open, with one
 * connection.
 *
 * @param stateDir created with mode 0700 if missing
 * @param onRepair receives a sentence for each repair made after opening
 * @param isHasty leaves the damage check to `verify` if the last process closed the ledger properly
 * @returns the ledger; its calls throw `LedgerUnavailableError` while the machine refuses to read or write
 * @throws {LedgerError} if the ledger is lost, damaged, from another program or version, or cannot be read and written
 * @throws {LedgerInUseError} if another process keeps it open for 5 s
 */
export async function openLedger(
  stateDir: string,
  onRepair?: (what: string) => void,
  isHasty = false,
): Promise<Ledger> {
  await makeStateDirectory(stateDir);
  await requireLedgerHere(stateDir);
  // Called only for its error: a lost ledger must not be replaced by an empty one.
  await isLedgerThere(stateDir);
  const path = ledgerPath(stateDir);
  const isTrusted = isHasty && (await wasClosed(path));
  const connection = connectTo(await openDatabase(path, { isTrusted }));
  try {
    const repairs = isTrusted ? [] : await repairAll(connection, stateDir);
    const strange = await catchUp(connection, stateDir);
    await settleRequests(connection.db);
    const id = await identityOf(connection.db, await readLedgerId(stateDir));
    await writeLedgerId(stateDir, id);
    const repair = async (): Promise<void> => {
      for (const what of await repairRows(connection, stateDir)) onRepair?.(what);
    };
    const verifyOnce = isTrusted ? laterSearch(connection, stateDir) : async () => [];
    return compose(connection, { stateDir, repairs: [...repairs, ...strange], id, repair, verify: verifyOnce });
  } catch (error) {
    await connection.db.destroy();
    // The hasty open skipped the damage check, so damage may be the cause.
    if (isTrusted) return openLedger(stateDir, onRepair);
    throw await explainOpening(error, path);
  }
}

/** The damage check that a hasty open skipped. Runs once; later calls do nothing. */
function laterSearch(connection: SqliteConnection, stateDir: string): Ledger['verify'] {
  let isVerified = false;
  return async () => {
    if (isVerified) return [];
    isVerified = true;
    try {
      await verify(connection.database, ledgerPath(stateDir));
      await nextTurn();
      return await repairAll(connection, stateDir);
    } catch (error) {
      throw await explainOpening(error, ledgerPath(stateDir));
    }
  };
}

/** Repairs damaged rows. @returns a sentence for each row @throws {LedgerError} if damage remains */
async function repairAll(connection: SqliteConnection, stateDir: string): Promise<readonly string[]> {
  const repairs = await repairRows(connection, stateDir);
  if (repairs.length > 0) await requireSound(connection.database, ledgerPath(stateDir));
  return repairs;
}

async function identityOf(db: Kysely<LedgerTables>, known: string | null): Promise<string> {
  if (known !== null) await db.updateTable('identity').set({ ledger: known }).where('ledger', '!=', known).execute();
  return (await db.selectFrom('identity').select('ledger').executeTakeFirstOrThrow()).ledger;
}

interface Opened extends Pick<Ledger, 'id' | 'repairs' | 'verify'> {
  readonly stateDir: string;
  /** Repairs rows that were damaged after the ledger was opened. */
  repair(): Promise<void>;
}

function compose(connection: SqliteConnection, opened: Opened): Ledger {
  const { database, db, commits } = connection;
  const { stateDir, id, repairs, repair, verify } = opened;
  const { selection, news, ...ports } = portsOf(connection);
  const files = mending(ports, repair);
  const claims = createClaims(files.load);
  return {
    ...files,
    id,
    repairs,
    verify,
    claim: claims.claim,
    budget: createBudgetRow(connection),
    roots: createRoots(connection),
    counter: createCounterRow(connection),
    selection: mending(selection, repair),
    news: mending(news, repair),
    backUp: createBackups(database, stateDir),
    [Symbol.asyncDispose]: async () => {
      claims.clear();
      commits.finish();
      await db.destroy();
    },
  };
}

/** The calls of a ledger port. */
type Port<T> = { readonly [name in keyof T]: (...args: never[]) => Promise<unknown> };

/**
 * Wraps a port so that a call that meets a damaged row repairs it and runs again. Rows may be damaged on disk while the
 * ledger is open; the damage then affects at most one file and needs no restart.
 *
 * @param repair repairs every damaged row; calls that meet damage at the same time share one repair
 */
export function mending<T extends Port<T>>(port: T, repair: () => Promise<void>): T {
  let running: Promise<void> | null = null;
  const repairOnce = (): Promise<void> =>
    (running ??= repair().finally(() => {
      running = null;
    }));
  const mended = (call: Port<T>[keyof T]) => {
    return async (...args: never[]): Promise<unknown> => {
      try {
        return await call(...args);
      } catch (error) {
        if (!(error instanceof DamagedRowError)) throw error;
        await repairOnce();
        return call(...args);
      }
    };
  };
  const calls = Object.entries(port) as [string, Port<T>[keyof T]][];
  return Object.fromEntries(calls.map(([name, call]) => [name, mended(call)])) as unknown as T;
}
