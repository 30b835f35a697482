import type { Gate } from '../host/gate.ts';
import type { Logger } from '../log/logger.ts';
import type { Clock, NoteStore } from '../pipeline/file/ports.ts';

/** How many requests had been sent in total when a day began, as far as dropcast was running. */
export interface DayMark {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly total: number;
}

const noteName = 'requests at the start of days';
const mostDays = 32;
const everyMs = 60_000;

/**
 * Records the number of requests at the start of each local day. The budget stores their total with every request, so
 * a crash loses none of them.
 */
export function startRequestDays({ ledger, gate, logger, clock }: RequestDaysPorts): Disposable {
  const look = async (): Promise<void> => {
    const marks = await requestMarks(ledger);
    const next = withMark(marks, { at: clock.now(), total: gate.snapshot().total });
    if (next !== marks) await ledger.saveNote(noteName, { marks: next });
  };
  const timer = setInterval(() => {
    look().catch((err: unknown) => logger.debug('Cannot record the requests of the day', { err }));
  }, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

interface RequestDaysPorts {
  readonly ledger: Pick<NoteStore, 'note' | 'saveNote'>;
  readonly gate: Pick<Gate, 'snapshot'>;
  readonly logger: Pick<Logger, 'debug'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Returns the recorded marks, oldest first; none if the record is damaged. */
export async function requestMarks(ledger: Pick<NoteStore, 'note'>): Promise<readonly DayMark[]> {
  const record = (await ledger.note(noteName)) as { readonly marks?: unknown } | null;
  const marks = Array.isArray(record?.marks) ? (record.marks as readonly DayMark[]) : [];
  return marks.filter((mark) => Number.isFinite(mark?.at) && Number.isFinite(mark.total));
}

/** Adds the mark of a day that has none. A total of 0 after others means that it is not loaded yet. Pure. */
export function withMark(marks: readonly DayMark[], mark: DayMark): readonly DayMark[] {
  const last = marks.at(-1);
  if (last !== undefined && (dayOf(last.at) >= dayOf(mark.at) || mark.total === 0)) return marks;
  return [...marks, mark].slice(-mostDays);
}

/** Returns the requests of each day by the start of the day. A day when dropcast did not run has none. Pure. */
export function requestsByDay(marks: readonly DayMark[], now: DayMark): ReadonlyMap<number, number> {
  const ends = [...marks.slice(1), now];
  return new Map(marks.map(({ at, total }, n) => [dayOf(at), Math.max(0, (ends[n]?.total ?? total) - total)]));
}

/** Returns the start of the local day. Pure. @param at epoch milliseconds, like the result */
export function dayOf(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
