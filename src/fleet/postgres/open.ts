import type { Facts } from '../../pipeline/file/facts.ts';
import type { SeenFolders } from '../../pipeline/file/ports.ts';
import { catchUp } from '../../ledger/catch-up.ts';
import { noteLedgerElsewhere, readLedgerId, writeLedgerId, makeStateDirectory } from '../../ledger/state-directory.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import type { Connection } from '../../ledger/connection.ts';
import type { ConnectionOptions } from './connection.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { portsOf } from '../../ledger/ports-of.ts';
import { createBudgetRow, createCounterRow, createRoots } from '../../ledger/records.ts';
import { ask } from '../../ledger/work.ts';
import { channel, connectTo } from './connection.ts';
import { noteServer, settling } from './outcome.ts';
import { explained, identify, knownSchema, migrate } from './migrations.ts';
import { nameOf } from './client-config.ts';
import type { PostgresPlace } from './client-config.ts';
import type { PostgresPool } from './pool.ts';
import { postgresWords } from './words.ts';

/** The rows that several hosts share. Claims and the budget are implemented elsewhere. */
export interface SharedRows extends Omit<Ledger, 'claim' | 'budget'> {
  /** Returns the host that last wrote each of these files. */
  hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export interface SharedRowsOptions {
  readonly place: PostgresPlace;
  readonly stateDir: string;
  /** Name of this host. */
  readonly hostName: string;
  /** Returns the folders, by name in rows, whose files this host can read; null: all folders. */
  visible(): SeenFolders | null;
  readonly fence?: ConnectionOptions['fence'];
  /** Reports a repair made after opening. */
  repaired(what: string): void;
  /** Called with the reason when no new work may start for some time. */
  settles(why: string): void;
  /** Called when the database may have lost rows: it is another server, was restarted, or has other tables. */
  moved(): void;
  /** Replaces a receipt's local folder with the folder's name in rows. */
  readonly placed?: (facts: Facts) => Facts;
}

/** Interval at which a host checks whether the database is another one, in milliseconds. */
const checkEveryMs = 5_000;

/**
 * Opens a fleet's ledger and upgrades its tables. The rows never lag behind this host's receipts, neither on opening
 * nor after the database moved to another server or was restored from a backup.
 *
 * @throws {LedgerError} if the ledger cannot be used, or requires a newer release
 */
export async function openSharedRows(pool: PostgresPool, options: SharedRowsOptions): Promise<SharedRows> {
  const { place, stateDir, hostName, visible, fence, placed } = options;
  await makeStateDirectory(stateDir);
  await migrate({ pool, name: nameOf(place), user: place.user });
  const repairs: string[] = [];
  let repaired = (...what: readonly string[]): void => void repairs.push(...what);
  const connection = connectTo({
    pool,
    words: postgresWords(hostName, visible),
    fence,
    host: hostName,
    moved: async (direct) => {
      if (await noteServer(pool.rows)) options.settles(settling);
      repaired(...(await catchUp(direct, stateDir, placed)));
      options.moved();
    },
  });
  const id = await identityOf(connection, stateDir, nameOf(place));
  await explained(connection.check);
  repaired = (...what) => what.forEach(options.repaired);
  // After a new connection, a host checks for lost writes even if it has nothing to write.
  const checkAgain = (): void => void connection.check().catch(() => undefined);
  const listening = pool.listen(channel, (payload) => void (payload === '' && checkAgain()));
  // A promoted standby may keep its connections, so a host may get no notification of the failover.
  const timer = setInterval(checkAgain, checkEveryMs).unref();
  return {
    ...portsOf(connection),
    roots: createRoots(connection),
    counter: createCounterRow(connection),
    id,
    repairs,
    // PostgreSQL detects damage itself, and its administrator makes the backups.
    verify: async () => [],
    backUp: async () => undefined,
    hostsOf: async (ids) => {
      const text = `SELECT id, host FROM file WHERE host IS NOT NULL AND id IN ${connection.words.textList}`;
      const rows = await connection.read(() => ask(text, [JSON.stringify(ids)]));
      return new Map(rows.map(({ id, host }) => [String(id), String(host)]));
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      listening[Symbol.dispose]();
      await connection.finish();
      await connection.db.destroy();
    },
  };
}

/**
 * Opens a fleet's ledger for a command that only reads. It upgrades nothing, and PostgreSQL refuses any change.
 *
 * @returns null if there is no ledger yet
 * @throws {LedgerError} if the ledger cannot be used, or belongs to another release
 */
export async function openRowsToRead(
  pool: PostgresPool,
  { place, hostName, visible }: Pick<SharedRowsOptions, 'place' | 'hostName' | 'visible'>,
): Promise<Ledger | null> {
  const { schema } = await identify({ pool, name: nameOf(place), user: place.user });
  if (schema === 0) return null;
  if (schema < knownSchema) {
    throw new LedgerError(`the ledger in ${nameOf(place)} is of an older version: start dropcast here to upgrade it`);
  }
  const connection = connectTo({
    pool: {
      rows: (...asked) => pool.transaction((ask) => ask(...asked), 'read'),
      transaction: (work) => pool.transaction(work, 'read'),
    },
    words: postgresWords(hostName, visible),
    host: hostName,
    moved: async () => undefined,
  });
  const { ledger: id } = await connection.db.selectFrom('identity').select('ledger').executeTakeFirstOrThrow();
  return {
    ...portsOf(connection),
    roots: createRoots(connection),
    counter: createCounterRow(connection),
    budget: createBudgetRow(connection),
    claim: async () => null,
    id,
    repairs: [],
    verify: async () => [],
    backUp: async () => undefined,
    [Symbol.asyncDispose]: () => connection.db.destroy(),
  };
}

/**
 * Returns the ledger's id and records it in the state directory. A state directory belongs to one ledger, because its
 * receipts are about that ledger's files.
 */
async function identityOf({ db }: Connection, stateDir: string, name: string): Promise<string> {
  const { ledger } = await db.selectFrom('identity').select('ledger').executeTakeFirstOrThrow();
  const known = await readLedgerId(stateDir);
  if (known !== null && known !== ledger) {
    throw new LedgerError(
      `the state directory ${stateDir} belongs to a different ledger than the one in ${name}: set another state_dir, or take its files over with \`dropcast ledger copy\``,
    );
  }
  await noteLedgerElsewhere(stateDir, name);
  await writeLedgerId(stateDir, ledger);
  return ledger;
}
