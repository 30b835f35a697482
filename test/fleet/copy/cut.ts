import { DatabaseSync } from 'node:sqlite';
import { vi } from 'vitest';
import type { Fleet } from '../../../src/fleet/copy/move.ts';
import type { Ask, PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../../src/pipeline/file/store-errors.ts';

/** The statements of a copy, of both stores, from the moment in which the first transaction begins. */
export interface Cut extends Disposable {
  readonly fleet: Fleet;
  /** All of them, so far. */
  asked(): number;
}

/** From now on the machine under a copy refuses its statement number `nth`: the disk under SQLite, or the way to PostgreSQL. */
export function cutAt(fleet: Fleet, nth: number): Cut {
  let asked = 0;
  let isCopying = false;
  const isCut = (): boolean => isCopying && (asked += 1) === nth;
  const spies = (['prepare', 'exec'] as const).map((method) => {
    const real = DatabaseSync.prototype[method] as (this: DatabaseSync, text: string) => never;
    return vi.spyOn(DatabaseSync.prototype, method).mockImplementation(function (this: DatabaseSync, text: string) {
      if (text.startsWith('BEGIN')) isCopying = true;
      if (isCut())
        throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
      return real.call(this, text);
    });
  });
  const cut = (ask: Ask): Ask => {
    return (...statement) => {
      if (isCut()) throw new LedgerUnavailableError('away', { sentence: 'the connection was cut' });
      return ask(...statement);
    };
  };
  const transaction: PostgresPool['transaction'] = (work, kind) =>
    fleet.pool.transaction((ask) => {
      isCopying = true;
      return work(cut(ask));
    }, kind);
  return {
    fleet: withTransactions(fleet, transaction),
    asked: () => asked,
    [Symbol.dispose]: () => spies.forEach((spy) => spy.mockRestore()),
  };
}

/** The connection is lost after COMMIT was sent: the server did it, or not. */
export function losingCommit(fleet: Fleet, outcome: 'committed' | 'aborted'): Fleet {
  return withTransactions(fleet, async (work, kind) => {
    const lost = new OutcomeUnknownError({ cause: new LedgerUnavailableError('away') });
    await fleet.pool.transaction(async (ask) => {
      await work(ask);
      if (outcome === 'aborted') throw lost;
    }, kind);
    throw lost;
  });
}

/** The same fleet, whose transactions go another way. */
export function withTransactions(fleet: Fleet, transaction: PostgresPool['transaction']): Fleet {
  const { pool } = fleet;
  return {
    ...fleet,
    pool: {
      rows: pool.rows,
      transaction,
      listen: (...asked) => pool.listen(...asked),
      awaySince: () => pool.awaySince(),
      whyAway: () => pool.whyAway(),
      [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
    },
  };
}
