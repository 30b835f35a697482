import type { NoteStore } from '../../pipeline/file/ports.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import type { Earliest } from '../../pipeline/earliest.ts';
import type { DropcastEvent, KeptEvents } from '../../pipeline/events.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { deadlineOf, urgencyOf } from '../../pipeline/file/urgency.ts';
import { lateWhy } from '../../view/words/picture-words.ts';
import { clockDay } from '../../view/words/text.ts';

export interface DeadlinesWorld {
  readonly ledger: RowStore<'due' | 'any'> & NoteStore;
  readonly events: KeptEvents;
  /** See `earliestOf`. */
  readonly earliest: (due: readonly Facts[]) => ReadonlyMap<string, Earliest>;
  /** Whether this host reports late files; the others show what it noted. */
  readonly isReporter: () => boolean;
  readonly now: () => number;
}

/** Files with the earliest deadlines, beyond which none is looked at. */
const mostDue = 300;

/** Files of a folder that are listed one by one. More of them are one entry, so that a flood is one notification. */
const mostAlone = 5;

const mostTold = 1_000;

const note = 'late';

type Late = Extract<DropcastEvent, { type: 'late' }>;

/** Finds files that certainly miss their `ready_by`. Each is reported once, and listed until it is ready or over. */
export function createDeadlines({ ledger, events, earliest, isReporter, now }: DeadlinesWorld) {
  let shown: readonly ExpectationView[] = [];
  /** Returns what was reported about files that more urgent ones keep from being looked at. */
  const passedOver = async (told: Told, due: readonly Facts[]): Promise<Told> => {
    const looked = new Set(due.map(({ id }) => id));
    const ids = [...told.keys()].filter((id) => !looked.has(id));
    const rows = ids.length === 0 ? [] : await ledger.rows({ group: 'any', where: { ids } });
    const waiting = new Set(rows.flatMap((facts) => (urgencyOf(facts) === null ? [] : facts.id)));
    return new Map([...told].filter(([id]) => waiting.has(id)));
  };
  return {
    list: (): readonly ExpectationView[] => shown,
    refresh: async (): Promise<void> => {
      const due = await ledger.rows({ group: 'due', limit: mostDue });
      if (due.length + shown.length === 0) return;
      const noted = (await ledger.note(note)) as Readonly<Record<string, Report>> | null;
      const told: Told = new Map(Object.entries(noted ?? {}));
      const times = isReporter() ? earliest(due) : new Map<string, Earliest>();
      const late = due.flatMap((facts): readonly Late[] => {
        const [by, time] = [deadlineOf(facts), times.get(facts.id)];
        const known = told.get(facts.id);
        const isLate = by !== null && time !== undefined && now() + time.inMs > by;
        const why = isLate ? lateWhy(time, now()) : known?.by === by ? known?.why : undefined;
        return by === null || why === undefined ? [] : [{ type: 'late', facts, by, why }];
      });
      const news = late.filter(({ facts, by }) => told.get(facts.id)?.by !== by);
      const kept = await passedOver(told, due);
      if (isReporter() && (news.length > 0 || late.length + kept.size < told.size)) {
        const record = [...late.map(({ facts, by, why }) => [facts.id, { by, why }] as const), ...kept];
        await ledger.saveNote(note, Object.fromEntries(record.slice(0, mostTold)), news.map(events.rowOf));
        for (const event of news) events.emit(event);
      }
      shown = [...Map.groupBy(late, ({ facts }) => facts.folder).values()].flatMap(viewsOf);
    },
  };
}

/** Reports that were made, by id of the file. */
type Told = ReadonlyMap<string, Report>;

interface Report {
  readonly by: number;
  readonly why: string;
}

function viewsOf(ofFolder: readonly Late[]): readonly ExpectationView[] {
  if (ofFolder.length <= mostAlone) return ofFolder.map((late) => viewOf(late));
  return ofFolder.slice(0, 1).map((late) => viewOf(late, ofFolder.length));
}

/** @param count more than 1: the entry covers this many files, of which this is the first */
function viewOf({ facts, by, why }: Late, count = 1): ExpectationView {
  const { id, folder, path, discoveredAt: from } = facts;
  const key = JSON.stringify([folder, 'ready_by', ...(count === 1 ? [id] : [])]);
  const match = count === 1 ? path : `${path} and others`;
  const counts = { count, arrived: count, live: 0 };
  return { key, folder, match, day: clockDay(new Date(by)), from, by, ...counts, until: 'ready', state: 'late', why };
}
