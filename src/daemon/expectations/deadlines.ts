import type { NoteStore } from '../../pipeline/file/ports.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import type { Earliest } from '../../pipeline/earliest.ts';
import type { DropcastEvent, KeptEvents } from '../../pipeline/events.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { deadlineOf } from '../../pipeline/file/urgency.ts';
import { lateWhy } from '../../view/words/picture-words.ts';
import { clockDay } from '../../view/words/text.ts';

export interface DeadlinesWorld {
  readonly ledger: RowStore<'due'> & NoteStore;
  readonly events: KeptEvents;
  /** See `earliestOf`. */
  readonly earliest: (due: readonly Facts[]) => ReadonlyMap<string, Earliest>;
  /** Whether this host reports late files; the others show what it noted. */
  readonly isReporter: () => boolean;
  readonly now: () => number;
}

/** Files with the earliest deadlines, beyond which none is looked at. */
const mostDue = 300;

const note = 'late';

/** Finds files that certainly miss their `ready_by`. Each is reported once, and listed until it is ready or over. */
export function createDeadlines({ ledger, events, earliest, isReporter, now }: DeadlinesWorld) {
  let shown: readonly ExpectationView[] = [];
  return {
    list: (): readonly ExpectationView[] => shown,
    refresh: async (): Promise<void> => {
      const due = await ledger.rows({ group: 'due', limit: mostDue });
      if (due.length + shown.length === 0) return;
      const told = new Map<string, unknown>(Object.entries(Object((await ledger.note(note)) ?? {}) as object));
      const times = isReporter() ? earliest(due) : new Map<string, Earliest>();
      const late = due.flatMap((facts) => {
        const [by, time] = [deadlineOf(facts), times.get(facts.id)];
        const isLate = by !== null && time !== undefined && now() + time.inMs > by;
        const why = isLate ? lateWhy(time, now()) : told.get(facts.id);
        return by === null || typeof why !== 'string' ? [] : [{ type: 'late' as const, facts, by, why }];
      });
      const news = late.filter(({ facts }) => !told.has(facts.id));
      if (isReporter() && (news.length > 0 || late.length < told.size)) {
        const record = Object.fromEntries(late.map(({ facts, why }) => [facts.id, why]));
        await ledger.saveNote(note, record, news.map(events.rowOf));
        for (const event of news) events.emit(event);
      }
      shown = late.map(viewOf);
    },
  };
}

function viewOf({ facts, by, why }: Extract<DropcastEvent, { type: 'late' }>): ExpectationView {
  const { id, folder, path: match, discoveredAt: from } = facts;
  const key = JSON.stringify([folder, 'ready_by', id]);
  const counts = { count: 1, arrived: 1, live: 0 };
  return { key, folder, match, day: clockDay(new Date(by)), from, by, ...counts, until: 'ready', state: 'late', why };
}
