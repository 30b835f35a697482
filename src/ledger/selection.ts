import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { stepStates } from '../pipeline/file/selection.ts';
import type {
  CountStore,
  CountsStore,
  FacetCount,
  FileCount,
  FileFacets,
  FilePage,
  FileProperties,
  FileRange,
  FileSelection,
  SelectionStore,
} from '../pipeline/file/selection.ts';
import type { Connection } from './connection.ts';
import { conditions, filesOf, insideOf, isAmong, isRow, seqOf, tableFor, where } from './filter.ts';
import type { Condition } from './filter.ts';
import { allFacts, filesIn } from './row.ts';

export function createSelection(store: Connection): SelectionStore {
  const { db } = store;
  return {
    page: (selection, range) => pageOf(store, selection, range),
    facets: async (selection) => {
      const { ids, host, text, since, until, needsPerson: isNeeding, working = [] } = selection;
      const fixed = conditions(store, { ids, host, text, since, until, needsPerson: isNeeding });
      const from = filesOf(store);
      const all = await countBy(store, { from, parts: fixed, by: facetProperties });
      const parts = [...fixed, isAmong(store, working)];
      const steps = working.length === 0 ? [] : await countBy(store, { from, parts, by: facetProperties });
      return facetsOf(selection, all, steps);
    },
    ids: async (selection, most, after) => {
      const seqs = await seqsOf(store, selection, { after, limit: most });
      if (seqs.length === 0) return { ids: [], next: null };
      const rows = await db.selectFrom('file').select('id').where(isRow(store, seqs)).orderBy('seq', 'desc').execute();
      return { ids: rows.map(({ id }) => id), next: seqs.length < most ? null : String(seqs.at(-1)) };
    },
  };
}

async function pageOf(store: Connection, selection: FileSelection, range: FileRange): Promise<FilePage> {
  const { after, before, limit, order } = range;
  const isBackward = before !== undefined;
  // One extra row shows whether more follow.
  const found = await seqsOf(store, selection, { ...range, limit: limit + 1 });
  const isMore = found.length > limit;
  // Paging back to the first page shows a full page.
  if (isBackward && !isMore) return pageOf(store, selection, { ...range, before: undefined });
  const seqs = isBackward ? found.slice(0, limit).toReversed() : found.slice(0, limit);
  return {
    files:
      seqs.length === 0
        ? []
        : await allFacts(
            filesIn(store.db)
              .where(isRow(store, seqs))
              .orderBy('seq', order === 'oldest first' ? 'asc' : 'desc'),
          ),
    first: seqs.length === 0 ? null : String(seqs[0]),
    last: seqs.length === 0 ? null : String(seqs.at(-1)),
    isMoreBefore: isBackward ? isMore : after !== undefined,
    isMoreAfter: isBackward || isMore,
  };
}

/** Returns row numbers starting at the given edge; backwards with `before`. */
async function seqsOf(store: Connection, selection: FileSelection, range: FileRange): Promise<readonly number[]> {
  const { after, before, upTo, limit, order } = range;
  const isRising = (order === 'oldest first') !== (before !== undefined);
  const edge = before ?? after;
  const parts = [
    ...conditions(store, selection),
    ...(edge === undefined ? [] : [isRising ? sql<boolean>`seq > ${seqOf(edge)}` : sql<boolean>`seq < ${seqOf(edge)}`]),
    ...(upTo === undefined ? [] : [sql<boolean>`seq <= ${seqOf(upTo)}`]),
  ];
  const isAll = Object.values(selection).every((value) => value === undefined || value === selection.working);
  const { rows } = await sql<{ readonly seq: number }>`
    select seq from ${isAll ? sql.raw('file') : filesOf(store)} ${where(parts)}
    order by seq ${sql.raw(isRising ? 'asc' : 'desc')} limit ${limit}`.execute(store.db);
  return rows.map(({ seq }) => seq);
}

/** In the order of the index, so that SQLite sorts nothing. */
const facetProperties = ['state', 'stage', 'folder', 'channel', 'feeds', 'cause'] as const;

export function createCounts(store: Connection): CountStore & CountsStore {
  return {
    count: async (filter, most) => {
      const found = sql`select ${most === undefined ? sql`count(*) as n` : sql`1`} from ${tableFor(store, filter)}
        ${where(conditions(store, filter))}`;
      const counted = most === undefined ? found : sql`select count(*) as n from (${found} limit ${most}) as found`;
      const { rows } = await sql<{ readonly n: number }>`${counted}`.execute(store.db);
      return rows[0]?.n ?? 0;
    },
    counts: ({ where: filter, by, withBytes = false }) =>
      countBy(store, { from: tableFor(store, filter), parts: conditions(store, filter), by, withBytes }),
  };
}

interface Grouping<P extends keyof FileProperties> {
  readonly from: RawBuilder<unknown>;
  readonly parts: readonly Condition[];
  readonly by: readonly P[];
  readonly withBytes?: boolean;
}

async function countBy<P extends keyof FileProperties>(
  store: Connection,
  { from, parts, by, withBytes = false }: Grouping<P>,
): Promise<readonly FileCount<P>[]> {
  const inside = insideOf(store);
  const valueOf: Readonly<Record<keyof FileProperties, RawBuilder<unknown>>> = {
    ...inside,
    state: sql.raw('state'),
    folder: sql.raw('folder'),
  };
  const values = by.map((name) => valueOf[name]);
  const named = by.map((name) => sql`${valueOf[name]} as ${sql.ref(name)}`);
  const bytes = withBytes ? sql`coalesce(sum(size), 0)` : sql`0`;
  const { rows } = await sql<FileCount<P>>`
    select ${sql.join([...named, sql`count(*) as files`, sql`${bytes} as bytes`])} from ${from} ${where(parts)}
    ${values.length === 0 ? sql`` : sql`group by ${sql.join(values)}`}`.execute(store.db);
  return rows;
}

/** Limit on values listed for one property, because a rule may give every file its own channel. */
const mostValues = 200;

/**
 * Counts the values of each property separately, from groups of files that are alike.
 *
 * @param working groups of files that a step is working on; `all` includes these files with the states of their rows
 */
export function facetsOf(
  selection: FileSelection,
  all: readonly FileCount[],
  working: readonly FileCount[],
): FileFacets {
  const groups = [...all.map(withFeeds), ...working.flatMap(asShown)];
  const tests = testsOf(selection);
  const counted = (property: keyof typeof tests | null, valuesOf: (group: Group) => readonly (string | null)[]) => {
    const others = Object.entries(tests).filter(([name]) => name !== property);
    const counts = new Map<string, number>();
    for (const group of groups) {
      if (!others.every(([, isMeant]) => isMeant(group))) continue;
      for (const value of valuesOf(group))
        if (value !== null) counts.set(value, (counts.get(value) ?? 0) + group.files);
    }
    return mostFirst(counts);
  };
  return {
    total: counted(null, () => ['all'])[0]?.files ?? 0,
    states: counted('state', ({ state }) => [state]),
    stages: counted('state', ({ stage }) => [stage]),
    folders: counted('folder', ({ folder }) => [folder]),
    channels: counted('channel', ({ channel }) => [channel]),
    feeds: counted('feed', ({ feedList }) => feedList),
    causes: counted('cause', ({ cause }) => [cause]),
  };
}

interface Group extends FileCount {
  readonly feedList: readonly string[];
}

function testsOf({ states, stages, folder, channel, feed, cause }: FileSelection) {
  return {
    state: ({ state, stage }: Group) => (states?.includes(state) ?? true) && (stages?.includes(stage) ?? true),
    folder: (group: Group) => folder === undefined || folder === group.folder,
    channel: (group: Group) => channel === undefined || channel === group.channel,
    feed: (group: Group) => feed === undefined || group.feedList.includes(feed),
    cause: (group: Group) => cause === undefined || cause === group.cause,
  };
}

function withFeeds(group: FileCount): Group {
  return { ...group, feedList: group.feeds === null ? [] : (JSON.parse(group.feeds) as string[]) };
}

/** Moves files that a step is working on from the state of their rows to the displayed state. */
function asShown(group: FileCount): readonly Group[] {
  const step = (stepStates as Readonly<Record<string, keyof typeof stageOfStep>>)[group.state];
  if (step === undefined) return [];
  return [withFeeds({ ...group, files: -group.files }), withFeeds({ ...group, state: step, stage: stageOfStep[step] })];
}

const stageOfStep = { creating: 'queued', uploading: 'uploading' } as const;

function mostFirst(counts: ReadonlyMap<string, number>): readonly FacetCount[] {
  return [...counts]
    .map(([value, files]) => ({ value, files }))
    .filter(({ files }) => files > 0)
    .sort((a, b) => b.files - a.files || (a.value < b.value ? -1 : 1))
    .slice(0, mostValues);
}
