import { sql } from 'kysely';
import type { AttemptFailure } from '../pipeline/file/failure.ts';
import type { Period } from '../pipeline/file/selection.ts';
import type { Connection } from './connection.ts';
import type { Work } from './work.ts';
import { readRecord, ask } from './work.ts';
import type { EventRow } from '../pipeline/events.ts';

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
  /** Returns the milliseconds from arrival to done, for at most 20,000 files that were done in a period. */
  doneAfter(period: Period): Promise<readonly number[]>;
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
    doneAfter: async ({ from, to }) => {
      const rows = await db
        .selectFrom('file')
        .select(sql<number>`ended_at - discovered_at`.as('ms'))
        .where('ended_at', '>=', from)
        .where('ended_at', '<', to)
        // The index on `state` would read all done rows.
        .where(sql.raw(words.unindexed('state')), '=', 'done')
        .limit(20_000)
        .execute();
      return rows.map(({ ms }) => Math.max(0, ms));
    },
  };
}

/** Events that are not about a file: pauses, feeds, folders, reloads, starts, outages. */
export interface EventRows {
  /**
   * Writes events in one transaction. The table keeps at most 100,000 rows: those of the last 30 days, and always the
   * newest 1,000.
   */
  keepEvents(events: readonly EventRow[]): Promise<void>;
  /** Returns events, oldest first. */
  events(wanted: EventsWanted): Promise<readonly KeptEvent[]>;
}

interface EventsWanted {
  /** null: all hosts */
  readonly host: string | null;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Returns the first events after this number; without it, the newest events. */
  readonly after?: number;
  readonly limit: number;
}

export interface KeptEvent {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** null: damaged */
  readonly line: unknown;
}

const mostEvents = 100_000;
const keptMs = 30 * 86_400_000;

/** Newest rows to keep at any age, because setting the clock forward makes all rows look old. */
const alwaysKept = 1_000;

/** Oldest rows that an insert checks for deletion, so that its cost does not grow with the table. */
const mostDropped = 100;

export function createEventRows({ db, write }: Connection): EventRows {
  return {
    keepEvents: (events) =>
      write(function* (): Work<void> {
        for (const event of events) yield* addEvent(event);
      }),
    events: async ({ host, since, after, limit }) => {
      const rows = await db
        .selectFrom('event')
        .select(['seq', 'at', 'line'])
        .where('at', '>=', since)
        .$if(host !== null, (query) => query.where('host', '=', host ?? ''))
        .$if(after !== undefined, (query) => query.where('seq', '>', after ?? 0))
        .orderBy('seq', after === undefined ? 'desc' : 'asc')
        .limit(limit)
        .execute();
      return (after === undefined ? rows.toReversed() : rows).map(kept);
    },
  };
}

/** Adds an event in the transaction that it reports. @param event null: adds nothing */
export function* addEvent(event: EventRow | null): Work<void> {
  if (event === null) return;
  const { host, at, line } = event;
  yield* ask('INSERT INTO event (host, at, line) VALUES (?, ?, ?)', [host, at, JSON.stringify(line)]);
  const oldest = 'seq IN (SELECT seq FROM event ORDER BY seq LIMIT ?)';
  const newest = '(SELECT max(seq) FROM event)';
  yield* ask(`DELETE FROM event WHERE ${oldest} AND (seq <= ${newest} - ? OR (at < ? AND seq <= ${newest} - ?))`, [
    mostDropped,
    mostEvents,
    at - keptMs,
    alwaysKept,
  ]);
}

function kept({ seq, at, line }: { readonly seq: number; readonly at: number; readonly line: string }): KeptEvent {
  return { seq, at, line: readRecord(line) };
}
