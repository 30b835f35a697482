import type { EventRow } from '../pipeline/events.ts';
import type { Connection } from './connection.ts';
import { readRecord, ask } from './work.ts';
import type { Work } from './work.ts';

/** Events that are not about a file: pauses, feeds, folders, reloads, starts, outages. */
export interface EventRows {
  /**
   * Writes events in one transaction. The table keeps at most 100,000 rows: those of the last 30 days, and always the
   * newest 1,000.
   */
  keepEvents(events: readonly EventRow[]): Promise<void>;
  /** Returns the newest events of the 30 days before `now`, oldest first. @param host null for all hosts */
  events(host: string | null, now: number, limit: number): Promise<readonly KeptEvent[]>;
  /** Returns the events after a number and since a time, oldest first. @param host null for all hosts */
  eventsAfter(
    host: string | null,
    from: { readonly after: number; readonly since: number },
    limit: number,
  ): Promise<readonly KeptEvent[]>;
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
  const ofHost = (host: string | null, since: number) =>
    db
      .selectFrom('event')
      .select(['seq', 'at', 'line'])
      .where('at', '>=', since)
      .$if(host !== null, (query) => query.where('host', '=', host ?? ''));
  return {
    keepEvents: (events) =>
      write(function* (): Work<void> {
        for (const event of events) yield* addEvent(event);
      }),
    events: async (host, now, limit) =>
      (
        await ofHost(host, now - keptMs)
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute()
      )
        .toReversed()
        .map(kept),
    eventsAfter: async (host, { after, since }, limit) =>
      (await ofHost(host, since).where('seq', '>', after).orderBy('seq').limit(limit).execute()).map(kept),
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
