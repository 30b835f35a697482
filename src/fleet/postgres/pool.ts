import { Pool } from 'pg';
import type { PoolClient } from 'pg';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../pipeline/file/store-errors.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import { clientConfig, nameOf } from './client-config.ts';
import type { Limits, PostgresPlace } from './client-config.ts';
import { createListener } from './listener.ts';
import type { Listener } from './listener.ts';
import { Reachable } from './reachable.ts';
import type { Outage } from './reachable.ts';
import { isPlanOld, troubleOf } from './why-away.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement with `$1` placeholders. int8 and numeric values are returned as numbers. */
export type Ask = <R extends Row = Row>(text: string, values?: readonly unknown[]) => Promise<readonly R[]>;

/**
 * Connections to a fleet's database, at most five. Every call rejects with `LedgerUnavailableError` while the database
 * refuses or does not answer in time; the next call tries again. A statement that may have been executed is never
 * repeated here.
 */
export interface PostgresPool extends AsyncDisposable {
  /** Runs one statement outside a transaction. If the connection is cut, the statement may still have been executed. */
  readonly rows: Ask;
  /**
   * Runs statements that are committed together or not at all. An error thrown by `work` rolls back and is rethrown. If
   * a statement was prepared before the tables changed, the whole transaction is repeated.
   *
   * @param kind `read`: one snapshot, no changes
   * @throws {OutcomeUnknownError} if the connection was cut during the commit
   */
  transaction<T>(work: (ask: Ask) => Promise<T>, kind?: 'write' | 'read'): Promise<T>;
  /**
   * Receives notifications on a separate connection, which reconnects automatically. Notifications may be lost.
   *
   * @param heard receives the payload; also called with an empty payload after each new connection, because a
   *   notification may have been missed
   */
  listen(channel: string, heard: (payload: string) => void): Disposable;
  /** When the database stopped answering, in epoch milliseconds; null: it is answering. */
  awaySince(): number | null;
  /** Server and reason, as a sentence without a full stop; null: it is answering. */
  whyAway(): string | null;
}

export interface PoolOptions {
  /** Name of this member, shown in `pg_stat_activity`. */
  readonly hostName: string;
  readonly limits?: Partial<Limits>;
  readonly outage?: Outage;
}

/** Connections for statements. One more connection listens for notifications. */
const MAX_CONNECTIONS = 4;
const IDLE_MS = 300_000;
const usual: Limits = { connectMs: 5_000, statementMs: 12_000, answerMs: 15_000 };

/**
 * Opens a pool and its first connection.
 *
 * @throws {LedgerError} if the connection fails: one sentence with the reason and what to do
 */
export async function openPool(place: PostgresPlace, { limits, ...options }: PoolOptions): Promise<PostgresPool> {
  const pool = new ConnectedPool(place, options, { ...usual, ...limits });
  try {
    await pool.rows('select 1');
    return pool;
  } catch (error) {
    await pool[Symbol.asyncDispose]();
    const cause = error instanceof Error ? error.cause : null;
    const trouble = troubleOf(cause, place);
    if (trouble === null) throw error;
    throw new LedgerError(`the ledger cannot be opened: ${nameOf(place)}: ${trouble.why}`, { cause });
  }
}

class ConnectedPool implements PostgresPool {
  readonly #pool: Pool;
  readonly #listener: Listener;
  readonly #reachable: Reachable;
  readonly #place: PostgresPlace;
  readonly #clients = new Set<PoolClient>();
  /** Number of outages that had ended when each connection was made. */
  readonly #outagesBefore = new WeakMap<PoolClient, number>();
  readonly #idle = new Set<PoolClient>();

  constructor(place: PostgresPlace, { hostName, outage }: Omit<PoolOptions, 'limits'>, limits: Limits) {
    const config = clientConfig(place, hostName, limits);
    this.#place = place;
    this.#reachable = new Reachable(place, outage);
    this.#pool = new Pool({ ...config, max: MAX_CONNECTIONS, idleTimeoutMillis: IDLE_MS });
    this.#pool.on(
      'error',
      (error, client) => void this.#reachable.translated(error, this.#outagesBefore.get(client) ?? 0),
    );
    this.#pool.on('connect', (client) => {
      this.#clients.add(client);
      this.#outagesBefore.set(client, this.#reachable.outages);
      client.on('error', () => {}); // the statement that waits rejects, too
    });
    this.#pool.on('acquire', (client) => this.#idle.delete(client));
    this.#pool.on('release', (error, client) => error || this.#idle.add(client));
    this.#pool.on('remove', (client) => {
      this.#clients.delete(client);
      this.#idle.delete(client);
    });
    this.#listener = createListener(config, () => new Reachable(place));
  }

  awaySince(): number | null {
    return this.#reachable.awaySince;
  }

  whyAway(): string | null {
    return this.#reachable.whyAway;
  }

  readonly rows: Ask = (text, values) => this.#planned(() => this.#rows(text, values));

  readonly #rows: Ask = async (text, values) => {
    const { outages } = this.#reachable;
    const client = await this.#take();
    try {
      const rows = await asked(client)<never>(text, values);
      client.release();
      this.#reachable.answered();
      return rows;
    } catch (error) {
      const isCut = this.#isCut(error);
      this.#release(client, isCut, isCut || isPlanOld(error) || !(await isBetweenTransactions(client)));
      throw this.#reachable.translated(error, outages);
    }
  };

  /**
   * Retries a call that failed because of an outdated prepared statement. After a newer member adds a column, this
   * happens on each connection before anything is executed; those connections are dropped.
   */
  async #planned<T>(ask: () => Promise<T>): Promise<T> {
    for (let refused = 0; ; refused += 1) {
      try {
        return await ask();
      } catch (error) {
        if (!isPlanOld(error) || refused === MAX_CONNECTIONS) throw error;
      }
    }
  }

  /**
   * Returns a connection to the pool. If it was cut, the idle connections usually are, too, so they are closed:
   * detecting each cut separately can take long.
   */
  #release(client: PoolClient, isCut: boolean, isOfNoUse = isCut): void {
    client.release(isOfNoUse);
    if (isCut) for (const { connection } of this.#idle) connection.stream.destroy();
  }

  transaction<T>(work: (ask: Ask) => Promise<T>, kind: 'write' | 'read' = 'write'): Promise<T> {
    return this.#planned(() => this.#transaction(work, kind));
  }

  async #transaction<T>(work: (ask: Ask) => Promise<T>, kind: 'write' | 'read'): Promise<T> {
    const { outages } = this.#reachable;
    const client = await this.#take();
    let isCommitting = false;
    try {
      const ask = asked(client);
      await ask(begin[kind]);
      const result = await work(ask);
      isCommitting = true;
      await committed(client);
      client.release();
      this.#reachable.answered();
      return result;
    } catch (error) {
      const isCut = this.#isCut(error) || !(await rolledBack(client));
      this.#release(client, isCut, isCut || isPlanOld(error));
      const thrown = this.#reachable.translated(error, outages);
      throw isCommitting && kind === 'write' && this.#isCut(error)
        ? new OutcomeUnknownError({ cause: thrown })
        : thrown;
    }
  }

  async #take(): Promise<PoolClient> {
    if (this.#pool.idleCount === 0) this.#reachable.refuseTooEarly();
    const { outages } = this.#reachable;
    try {
      return await this.#pool.connect();
    } catch (error) {
      if (isQueueTooLong(error)) throw new LedgerUnavailableError('busy', { cause: error, sentence: allInUse });
      this.#reachable.notConnected();
      throw this.#reachable.translated(error, outages);
    }
  }

  /** Whether a connection is unusable. A statement that timed out is still running on its connection. */
  #isCut(error: unknown): boolean {
    return troubleOf(error, this.#place)?.isCut ?? false;
  }

  listen(channel: string, heard: (payload: string) => void): Disposable {
    return this.#listener.listen(channel, heard);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#pool.ending) return;
    const ended = this.#pool.end();
    await Promise.race([Promise.all([ended, this.#listener[Symbol.asyncDispose]()]), patience()]);
    for (const client of this.#clients) client.connection.stream.destroy();
    await ended;
  }
}

const allInUse = 'all connections to the database of the ledger are in use';

/** Matches pg-pool's message for a full queue. A failed connection has a different message. */
function isQueueTooLong(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}

const begin = { write: 'begin', read: 'begin isolation level repeatable read, read only' } as const;

function asked(client: PoolClient): Ask {
  return async (text, values = []) => {
    const name = values.length === 0 ? undefined : statementName(text);
    const answer: unknown = await client.query<never>({ text, values: [...values], ...(name && { name }) });
    // Each statement in a text has its own answer. pg-boss needs the rows of all answers.
    return [answer].flat().flatMap((each) => (each as { readonly rows: readonly never[] }).rows);
  };
}

/** The names of prepared statements, by text; null after the first use. */
const statements = new Map<string, string | null>();

/**
 * Limits on the texts to remember, and on the prepared statements, which the server keeps per connection. Updates set
 * only changed columns, so each set of columns has its own text.
 */
const [mostTexts, mostPrepared] = [2_000, 400];
let prepared = 0;

/**
 * Returns the name under which the server keeps a statement that is used again: it is then parsed and planned once per
 * connection. Planning was half of the server's work for a file (measured). A text without values may contain several
 * commands, which cannot be prepared.
 */
function statementName(text: string): string | null {
  const known = statements.get(text);
  if (known === undefined) {
    if (statements.size < mostTexts) statements.set(text, null);
    return null;
  }
  if (known !== null || prepared === mostPrepared) return known;
  const name = `s${(prepared += 1)}`;
  statements.set(text, name);
  return name;
}

/** Commits a transaction. After a failed statement, PostgreSQL answers COMMIT with a rollback and reports no error. */
async function committed(client: PoolClient): Promise<void> {
  const { command } = await client.query('commit');
  if (command !== 'COMMIT') throw new Error('a statement of this transaction failed, and nothing of it was written');
}

/**
 * Checks whether a connection has no open transaction. SQL text with its own BEGIN leaves one open when it fails. An
 * empty query reveals that; ROLLBACK alone would log a warning.
 */
async function isBetweenTransactions(client: PoolClient): Promise<boolean> {
  try {
    await client.query('');
    return client.getTransactionStatus() === 'I';
  } catch {
    return false;
  }
}

async function rolledBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('rollback');
    return true;
  } catch {
    return false;
  }
}

/** How long closing a pool waits for running queries. */
const CLOSING_MS = 5_000;

async function patience(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, CLOSING_MS).unref());
}
