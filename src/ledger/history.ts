import { sql } from 'kysely';
import type { AttemptFailure } from '../pipeline/file/failure.ts';
import type { Connection } from './connection.ts';
import { readRecord } from './work.ts';

/** A line of a file's history. */
export interface HistoryLine {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly state: string;
  readonly note: string | null;
  /** Class, code and HTTP status of the failure that the line reports; null: no failure. */
  readonly failure: AttemptFailure | null;
}

/** A history line of any file. */
export interface Passage {
  readonly seq: number;
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly state: string;
  /** Note in the history line. */
  readonly note: string | null;
}

/** The history of files. */
export interface HistoryRows {
  history(id: string): Promise<readonly HistoryLine[]>;
  /** Returns the number of the newest history line of any file; 0 if there is none. */
  lastPassage(): Promise<number>;
  /**
   * Returns lines after a number in which a file entered one of these states, oldest first.
   *
   * @param within.since epoch milliseconds
   * @param within.until last number to include
   */
  passages(
    after: number,
    states: readonly string[],
    limit: number,
    within?: { readonly since: number; readonly until: number },
  ): Promise<readonly Passage[]>;
  /**
   * Returns, for each file, the most recent of these states up to a history line, with the number of the line that
   * records it.
   */
  lastStates(
    ids: readonly string[],
    states: readonly string[],
    until: number,
  ): Promise<ReadonlyMap<string, Pick<Passage, 'seq' | 'state'>>>;
}

export function createHistory({ db, words }: Connection): HistoryRows {
  return {
    history: async (id) => {
      const lines = db.selectFrom('history').select(['at', 'state', 'note', 'failure']).where('file_id', '=', id);
      return (await lines.orderBy('seq').execute()).map(({ failure, ...line }) => ({
        ...line,
        failure: failure === null ? null : (readRecord(failure) as AttemptFailure | null),
      }));
    },
    lastPassage: async () => {
      const row = await db.selectFrom('history').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
      return row?.seq ?? 0;
    },
    passages: async (after, states, limit, within) =>
      db
        .selectFrom('history')
        .select(['seq', 'file_id as id', 'at', 'state', 'note'])
        .where('seq', '>', after)
        .where('state', 'in', [...states])
        .$if(within !== undefined, (query) =>
          query.where('seq', '<=', within?.until ?? 0).where('at', '>=', within?.since ?? 0),
        )
        .orderBy('seq')
        .limit(limit)
        .execute(),
    lastStates: async (ids, states, until) => {
      const rows = await db
        .selectFrom('history')
        .select(['seq', 'file_id as id', 'state'])
        .where('seq', 'in', (eb) =>
          eb
            .selectFrom('history')
            .select(({ fn }) => fn.max('seq').as('seq'))
            .where(sql<boolean>`file_id in ${words.texts(ids)}`)
            .where('state', 'in', [...states])
            .where('seq', '<=', until)
            .groupBy('file_id'),
        )
        .execute();
      return new Map(rows.map(({ id, seq, state }) => [id, { seq, state }]));
    },
  };
}
