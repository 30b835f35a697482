import { sql } from 'kysely';
import type { Kysely, RawBuilder } from 'kysely';
import { stepStates } from '../pipeline/file/selection.ts';
import type { FilePage, FileRange, FileSelection, SelectionStore } from '../pipeline/file/selection.ts';
import { needsPerson } from './cause-name.ts';
import { facetsOf } from './facets.ts';
import type { Alike } from './facets.ts';
import { allFacts, filesIn } from './row.ts';
import { inside } from './schema.ts';
import type { LedgerTables } from './schema.ts';
import { hasText } from './search-text.ts';

type Condition = RawBuilder<boolean>;

const channel = sql.raw<string | null>(inside.channel);
const feeds = sql.raw<string | null>(inside.feeds);
const cause = sql.raw<string | null>(inside.cause);
const title = sql.raw<string | null>(inside.title);
const path = sql.raw('path');
const absolutePath = sql.raw("folder || '/' || path");
const videoId = sql.raw('video_id');

/** Reads one index that has all that can be selected by: with 100,000 files each question takes some 10 ms, whatever is asked. */
const files = sql.raw('file indexed by file_listing');

export function createSelection(db: Kysely<LedgerTables>): SelectionStore {
  return {
    page: (selection, range) => pageOf(db, selection, range),
    count: async (selection, newerThan) => {
      const newer = newerThan === undefined ? [] : [sql<boolean>`seq > ${seqOf(newerThan)}`];
      const { rows } = await sql<{ readonly n: number }>`
        select count(*) as n from ${files} ${where([...conditions(selection), ...newer])}`.execute(db);
      return rows[0]?.n ?? 0;
    },
    facets: async (selection) => {
      const { ids, text, since, needsPerson: isNeeding, working = [] } = selection;
      const fixed = conditions({ ids, text, since, needsPerson: isNeeding });
      const all = await countAlike(db, fixed);
      const steps = working.length === 0 ? [] : await countAlike(db, [...fixed, isAmong(working)]);
      return facetsOf(selection, all, steps);
    },
    ids: async (selection, most, after) => {
      const seqs = await seqsOf(db, selection, { after, limit: most });
      if (seqs.length === 0) return { ids: [], next: null };
      const rows = await db.selectFrom('file').select('id').where(isRow(seqs)).orderBy('seq', 'desc').execute();
      return { ids: rows.map(({ id }) => id), next: seqs.length < most ? null : String(seqs.at(-1)) };
    },
  };
}

async function pageOf(db: Kysely<LedgerTables>, selection: FileSelection, range: FileRange): Promise<FilePage> {
  const { after, before, limit, order } = range;
  const isBackward = before !== undefined;
  // One more says whether there is more.
  const found = await seqsOf(db, selection, { ...range, limit: limit + 1 });
  const isMore = found.length > limit;
  // The first page is whole, also for who comes back to it.
  if (isBackward && !isMore) return pageOf(db, selection, { ...range, before: undefined });
  const seqs = isBackward ? found.slice(0, limit).toReversed() : found.slice(0, limit);
  return {
    files:
      seqs.length === 0
        ? []
        : await allFacts(
            filesIn(db)
              .where(isRow(seqs))
              .orderBy('seq', order === 'oldest first' ? 'asc' : 'desc'),
          ),
    first: seqs.length === 0 ? null : String(seqs[0]),
    last: seqs.length === 0 ? null : String(seqs.at(-1)),
    isMoreBefore: isBackward ? isMore : after !== undefined,
    isMoreAfter: isBackward || isMore,
  };
}

/** The numbers of the rows, from the given side on: backwards when it is `before` something. */
async function seqsOf(
  db: Kysely<LedgerTables>,
  selection: FileSelection,
  range: FileRange,
): Promise<readonly number[]> {
  const { after, before, upTo, limit, order } = range;
  const isRising = (order === 'oldest first') !== (before !== undefined);
  const edge = before ?? after;
  const parts = [
    ...conditions(selection),
    ...(edge === undefined ? [] : [isRising ? sql<boolean>`seq > ${seqOf(edge)}` : sql<boolean>`seq < ${seqOf(edge)}`]),
    ...(upTo === undefined ? [] : [sql<boolean>`seq <= ${seqOf(upTo)}`]),
  ];
  const isAll = Object.values(selection).every((value) => value === undefined || value === selection.working);
  const { rows } = await sql<{ readonly seq: number }>`
    select seq from ${isAll ? sql.raw('file') : files} ${where(parts)}
    order by seq ${sql.raw(isRising ? 'asc' : 'desc')} limit ${limit}`.execute(db);
  return rows.map(({ seq }) => seq);
}

/** A cursor is the number of a row. What is none finds nothing. */
function seqOf(cursor: string): number {
  const seq = Number(cursor);
  return Number.isSafeInteger(seq) ? seq : -1;
}

/** How many files are alike in all that has facets. The index is in this order, so that nothing is sorted. */
async function countAlike(db: Kysely<LedgerTables>, parts: readonly Condition[]): Promise<readonly Alike[]> {
  const { rows } = await sql<Alike>`
    select state, folder, ${channel} as channel, ${feeds} as feeds, ${cause} as cause, count(*) as files
    from ${files} ${where(parts)} group by state, folder, ${channel}, ${feeds}, ${cause}`.execute(db);
  return rows;
}

function where(parts: readonly Condition[]): RawBuilder<unknown> {
  return parts.length === 0 ? sql`` : sql`where ${sql.join(parts, sql` and `)}`;
}

function conditions(selection: FileSelection): readonly Condition[] {
  const { ids, states, folder, text, since, working = [] } = selection;
  return [
    ...(ids === undefined ? [] : [isAmong(ids)]),
    ...(states === undefined ? [] : [isShownAs(states, working)]),
    ...(selection.needsPerson === true ? [needsOne] : []),
    ...(folder === undefined ? [] : [sql<boolean>`folder = ${folder}`]),
    ...(selection.channel === undefined ? [] : [sql<boolean>`${channel} = ${selection.channel}`]),
    ...(selection.feed === undefined
      ? []
      : [sql<boolean>`exists (select 1 from json_each(${feeds}) where value = ${selection.feed})`]),
    ...(selection.cause === undefined ? [] : [sql<boolean>`${cause} = ${selection.cause}`]),
    ...(text === undefined
      ? []
      : [hasText(text, [text.startsWith('/') ? absolutePath : path, title, ...(isAscii(text) ? [videoId] : [])])]),
    ...(since === undefined ? [] : [sql<boolean>`(discovered_at >= ${since} or ended_at >= ${since})`]),
  ];
}

/** By the index of those alone, which has everything that says so. */
const needsOne = sql<boolean>`seq in (select seq from file indexed by file_cause where ${sql.raw(needsPerson)})`;

/** No id has other letters: one column less to read for what takes longest. */
function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** One value, however many rows: SQLite takes 32,766. */
function isRow(seqs: readonly number[]): Condition {
  return sql<boolean>`seq in (select value from json_each(${JSON.stringify(seqs)}))`;
}

/** By their unique index. */
function isAmong(ids: readonly string[]): Condition {
  return sql<boolean>`seq in (select seq from file where id in (select value from json_each(${JSON.stringify(ids)})))`;
}

/** The state of a row, and whether a step works on it. */
function isShownAs(states: readonly string[], working: readonly string[]): Condition {
  const ways = states.map((state) => {
    const row = rowStateOf(state);
    if (row !== null) return sql<boolean>`(state = ${row} and ${isAmong(working)})`;
    return state in stepStates && working.length > 0
      ? sql<boolean>`(state = ${state} and not ${isAmong(working)})`
      : sql<boolean>`state = ${state}`;
  });
  return ways.length === 0 ? sql<boolean>`0` : sql<boolean>`(${sql.join(ways, sql` or `)})`;
}

/** Of a state that exists only while a step works: the state of the row. */
function rowStateOf(shown: string): string | null {
  return Object.entries(stepStates).find(([, step]) => step === shown)?.[0] ?? null;
}
