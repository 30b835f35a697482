import {
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  replaceWithNoncontingentExpression,
} from 'kysely';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { LostClaimError } from '../../pipeline/file/rows.ts';
import type { Connection } from '../../ledger/connection.ts';
import type { Query, StoredRow, Work } from '../../ledger/work.ts';
import type { LedgerTables } from '../../ledger/schema.ts';
import type { SqlWords } from '../../ledger/words.ts';
import { createGroupCommit } from './group-commit.ts';
import type { Together, Write } from './group-commit.ts';
import { isConflict } from './why-away.ts';
import { lockQuery, inOne, numbered, storable } from './statement.ts';
import type { Ask, PostgresPool } from './pool.ts';
import { settled, whichDatabase } from './outcome.ts';
import type { Sent } from './outcome.ts';

interface PostgresConnection extends Connection {
  /** Checks whether this is still the database last written to; if not, calls `moved`. */
  check(): Promise<void>;
  /** Resolves when every write is on disk or was refused. */
  finish(): Promise<void>;
}

export interface ConnectionOptions {
  readonly pool: Pick<PostgresPool, 'rows' | 'transaction'>;
  readonly words: SqlWords;
  /**
   * Returns a query that proves, in the transaction of a write, that this host holds the files. It selects the `id` of
   * each file held, and keeps the files held until the transaction ends. It locks all jobs in one statement, in the
   * same order on every host.
   */
  readonly fence?: ((ids: readonly string[]) => Query) | undefined;
  /** Name of this host, signalled to the other hosts after each write. */
  readonly host: string;
  /**
   * Called when the database is another server, was restarted, or has different tables, so it may have lost the last
   * writes. Nothing is written until this resolves.
   *
   * @param direct writes immediately, ahead of the waiting writes
   */
  moved(direct: Pick<Connection, 'db' | 'words' | 'write'>): Promise<void>;
}

/** Notification channel. Payloads are hints: the name of a writer, a signal, or nothing after a new connection. */
export const channel = 'dropcast';

/** Connects to a ledger that several hosts share. `db.destroy()` leaves the pool to its owner. */
export function connectTo(options: ConnectionOptions): PostgresConnection {
  const { pool, words, moved } = options;
  const db = new Kysely<LedgerTables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PoolDriver(pool),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    // PostgreSQL does not accept empty lists.
    plugins: [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })],
  });
  let database: string | null = null;
  let moving: Promise<void> | null = null;
  const move = async (to: string): Promise<void> => {
    const write = async <T>(work: () => Work<T>): Promise<T> => {
      const [result] = await inTransaction(options, [{ work }], to);
      return result as T;
    };
    await moved({ db, words, write });
    database = to;
  };
  const check = async (): Promise<void> => {
    const [found] = await pool.rows<{ now: string }>(`SELECT ${whichDatabase} AS now`);
    if (found !== undefined && found.now !== database)
      await (moving ??= move(found.now).finally(() => (moving = null)));
  };
  const together: Together = async (writes) => {
    for (let tries = 1; ; tries += 1) {
      if (database === null) await check();
      try {
        return await inTransaction(options, writes, database);
      } catch (error) {
        if (error instanceof OtherDatabaseError) await check();
        else if (!isConflict(error) || tries >= mostTries) throw error;
      }
    }
  };
  const commits = createGroupCommit(together);
  return {
    db,
    words,
    write: commits.write,
    read: (work) => pool.transaction((ask) => doWork(ask, work()), 'read'),
    prepared: (query) => {
      const { sql: text, parameters } = query.compile();
      return async (...last) => {
        const same = parameters.slice(0, parameters.length - last.length);
        return (await pool.rows(text, [...same, ...last].map(storable))) as never;
      };
    },
    check,
    finish: commits.finish,
  };
}

/** Thrown when a transaction reached a database that this host does not know yet. Nothing was written. */
class OtherDatabaseError extends Error {
  override readonly name = 'OtherDatabaseError';
}

/**
 * Attempts at a write that PostgreSQL rolls back because of a conflict. After these, the conflict counts as permanent.
 */
const mostTries = 5;

/**
 * Runs writes in one transaction. History lines get their numbers in commit order, so a reader that continues from a
 * number misses no line.
 */
async function inTransaction(
  { pool, host, fence }: ConnectionOptions,
  writes: readonly Write<unknown>[],
  database: string | null,
): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  let sent: Sent | null = null;
  const together = async (ask: Ask): Promise<void> => {
    const last: Query[] = [];
    if (fence !== undefined) await requireHeld(ask, fence, writes);
    for (const { work } of writes) results.push(await doWork(ask, work(), last));
    const lock = last.length > 0 ? `, (${lockQuery('history')}), ${shortIdleTime}` : '';
    const [found] = await ask<{ now: string; xid: string }>(
      `SELECT ${whichDatabase} AS now, pg_current_xact_id()::text AS xid, pg_notify('${channel}', $1)::text${lock}`,
      [host],
    );
    if (found === undefined || database !== found.now) throw new OtherDatabaseError();
    sent = { xid: found.xid, database };
    for (const { text, values } of inOne(last)) await ask(text, values);
  };
  try {
    await pool.transaction(together);
    return results;
  } catch (error) {
    return settled(error, pool, sent, results);
  }
}

async function requireHeld(
  ask: Ask,
  fence: NonNullable<ConnectionOptions['fence']>,
  writes: readonly Write<unknown>[],
): Promise<void> {
  const ids = new Set(writes.flatMap(({ held }) => held ?? []));
  if (ids.size === 0) return;
  const { text, values } = numbered(fence([...ids]));
  const ours = await ask<{ id: string }>(text, values);
  for (const { id } of ours) ids.delete(id);
  if (ids.size > 0) throw new LostClaimError('the file is held by another host');
}

/**
 * Shorter idle limit for use while holding the lock. A host that hangs before its commit blocks all others, so the
 * server ends its session soon.
 */
const shortIdleTime = "set_config('idle_in_transaction_session_timeout', '3000', true)";

/**
 * Runs the statements of a `Work`, each after the previous answer.
 *
 * @param last collects statements for the end of the transaction
 */
async function doWork<T>(ask: Ask, work: Work<T>, last?: Query[]): Promise<T> {
  let step = work.next();
  while (step.done !== true) {
    if (step.value.isLast === true && last !== undefined) {
      last.push(step.value);
      step = work.next([]);
    } else {
      const { text, values } = numbered(step.value);
      step = work.next(await ask<StoredRow>(text, values));
    }
  }
  return step.value;
}

/** Runs Kysely's queries. Statements that belong together are a `Work` instead. */
class PoolDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(pool: Pick<PostgresPool, 'rows'>) {
    this.#connection = {
      executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => ({
        rows: (await pool.rows(sql, parameters.map(storable))) as unknown as R[],
      }),
      streamQuery: () => {
        throw new Error('the ledger does not stream rows');
      },
    };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    throw new Error('what must be done together is a Work');
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

/** Signals from a member to the others. A payload without a colon is the name of a member that wrote rows. */
type Hint = 'budget' | 'hosts' | 'free';

/**
 * Reports that the turn came here, another host wrote rows, the budget was blocked, the hosts changed, or the database
 * may have lost rows (`moved`). `rows` also means that a signal may have been missed.
 */
export type Heard = (what: 'turn' | 'rows' | 'budget' | 'moved' | 'hosts') => void;

/** Returns the SQL that sends a signal. */
export function notifyOf(hint: Hint): string {
  return `pg_notify('${channel}', ':${hint}')`;
}

/** Returns what a payload means to a member; null: the member sent it itself. */
export function heardIn(payload: string, hostName: string): 'budget' | 'hosts' | 'rows' | null {
  if (payload === hostName) return null;
  return payload === ':budget' ? 'budget' : payload === ':hosts' ? 'hosts' : 'rows';
}
