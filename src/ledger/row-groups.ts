import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { tooLargeCode, unconfirmedCode, unknownNameCodes } from '../pipeline/file/failure.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { localFileCodes } from '../pipeline/file/local-trouble.ts';
import type { RowGroup, RowStore, RowsWanted } from '../pipeline/file/row-groups.ts';
import type { Connection } from './connection.ts';
import { allFacts, factsOf, filesIn } from './row.ts';
import { conditions } from './filter.ts';
import { isSeen } from './words.ts';
import type { SqlWords } from './words.ts';

type Groups = { readonly [G in RowGroup]: (wanted: RowsWanted<G>) => Promise<readonly Facts[]> };

export function createRowGroups(connection: Connection): RowStore {
  const groups = groupsOf(connection);
  return { rows: <G extends RowGroup>(wanted: RowsWanted<G>) => groups[wanted.group](wanted) };
}

// Conditions for partial indexes are literal, because SQLite does not match bound values against an index condition.
const isToBePutAway = sql<boolean>`disposal = 'pending'`;
const isWaitingForDisk = sql<boolean>`disposal = 'waiting'`;
const isKeptForNow = sql<boolean>`disposal = 'later'`;
const isDue = sql<boolean>`urgency <> 0`;
const isSkipped = sql<boolean>`state = 'skipped'`;
const hasEmptyRecord = sql<boolean>`"end" is not null and video_id is not null and uploaded_at is null`;

/** Condition: no other file has the same video. */
const isOnlyRow = sql<boolean>`not exists (
  select 1 from file other where other.video_id = file.video_id and other.id != file.id)`;

/** Limit on files of the same size to compare. */
const mostTwins = 1_000;

/** Builds the query for each group so that it can use an index. */
function groupsOf(store: Connection): Groups {
  const { db, words, prepared } = store;
  const { inside } = words;
  const column = <T>(text: string): RawBuilder<T> => sql.raw<T>(text);
  const unindexedState = column<string>(words.unindexed('state'));
  const folderKey = column<string>(inside.folder);
  const dueAt = column<number | null>(inside.dueAt);
  const code = column<string | null>(inside.code);
  const { stands, twinOf } = twinConditions(words);
  const isLeftFromBefore = sql<boolean>`"end" = 'held' and ${code} = 'existing'`;
  const isUnrouted = sql<boolean>`case when state = 'held' then plan is null or ${column(inside.kind)} = 'mismatch'
    else ${code} = ${sql.lit(unknownNameCodes.channel)} end`;
  const toPutAway = filesIn(db).where(isToBePutAway).where(unindexedState, '=', 'done').orderBy('seq');
  const waiting = filesIn(db).where(isWaitingForDisk);
  const toAdopt = filesIn(db).where(isLeftFromBefore).orderBy('seq');
  const often = {
    retrying: prepared(
      filesIn(db)
        .where(unindexedState, '=', 'retrying')
        .where('not_before', '<=', 0)
        .orderBy('not_before')
        .orderBy('seq')
        .limit(0),
    ),
    toPutAway: prepared(toPutAway.limit(0)),
    toAmend: prepared(
      filesIn(db)
        .where('amendment', 'is not', null)
        .where('video_id', 'is not', null)
        .where('dying', '=', 0)
        .where(unindexedState, 'in', ['processing', 'awaiting publish', 'done'])
        .orderBy('seq')
        .limit(0),
    ),
    toCompare: prepared(toAdopt.where(sql<boolean>`${column(inside.likeness)} is null`).limit(0)),
  };
  return {
    'in state': ({ state, limit }) =>
      allFacts(
        filesIn(db)
          .where(column<boolean>(words.isIn('state', `'${state}'`)))
          .orderBy('state')
          .orderBy('seq')
          .limit(limit),
      ),
    retrying: async ({ dueBy, limit }) => (await often.retrying(dueBy, limit)).map(factsOf),
    due: ({ limit }) => allFacts(filesIn(db).where(isDue).orderBy('urgency').orderBy('seq').limit(limit)),
    any: ({ where = {}, limit, newestFirst = false }) => {
      const matching = conditions(store, where).reduce((query, one) => query.where(one), filesIn(db));
      const ordered = matching.orderBy('seq', newestFirst ? 'desc' : 'asc');
      return allFacts(limit === undefined ? ordered : ordered.limit(limit));
    },
    'came in': ({ folder, since }) =>
      allFacts(
        filesIn(db)
          .where('folder', '=', folder)
          .where('discovered_at', '>=', since)
          .orderBy('discovered_at')
          .orderBy('seq'),
      ),
    twins: ({ of: { id, version }, passing }) =>
      allFacts(
        filesIn(db)
          .where('size', '=', version.size)
          .where('id', '!=', id)
          .where('source_url', 'is', null)
          .where((eb) => {
            const goesFirst = eb.or([
              // A file without a row comes last.
              sql<boolean>`seq < coalesce((select seq from file where id = ${id}), 9223372036854775807)`,
              // A file whose record is being deleted counts as having none: it looks for twins again before it gets a
              // new record.
              eb.and([eb('video_id', 'is not', null), eb('dying', '=', 0)]),
              eb('id', 'in', passing),
            ]);
            return eb.or([
              stands('file'),
              eb.and([eb('state', 'in', ['queued', 'awaiting upload', 'retrying']), goesFirst]),
            ]);
          })
          .orderBy('seq')
          .limit(mostTwins),
      ),
    stranded: ({ twin }) =>
      allFacts(
        filesIn(db)
          .where(isSkipped)
          .where(twinOf, twin === null ? 'is not' : '=', twin)
          .where(sql<boolean>`not exists (select 1 from file twin where twin.id = ${twinOf} and ${stands('twin')})`)
          .orderBy('seq'),
      ),
    'to put away': async ({ limit, seen }) =>
      seen === undefined
        ? (await often.toPutAway(limit)).map(factsOf)
        : allFacts(toPutAway.where(isSeen(seen)).limit(limit)),
    'waiting for disk': ({ limit, seen }) =>
      allFacts((seen === undefined ? waiting : waiting.where(isSeen(seen))).orderBy('seq', 'desc').limit(limit)),
    expired: ({ now, folders, limit }) =>
      allFacts(
        filesIn(db)
          .where(isKeptForNow)
          .where(dueAt, '<=', now)
          // The index on `folder` would read and sort all files in the folder.
          .where(column<string>(words.unindexed('folder')), 'in', folders)
          .orderBy(dueAt)
          .orderBy('seq')
          .limit(limit),
      ),
    crowding: ({ mark, limit, without = 0 }) =>
      allFacts(
        filesIn(db)
          .where(isKeptForNow)
          .where(folderKey, '=', words.key(mark.folder))
          .where(column<number | null>(inside.whenFull), '=', mark.whenFull)
          .orderBy('ended_at')
          .orderBy('seq')
          .limit(limit)
          .offset(without),
      ),
    'to amend': async ({ limit }) => (await often.toAmend(limit)).map(factsOf),
    abandoned: ({ ends, limit }) =>
      allFacts(
        filesIn(db)
          .where(hasEmptyRecord)
          .where(sql<boolean>`coalesce(remote_status, '') not in ('processing', 'ready', 'failed')`)
          .where(sql<boolean>`coalesce(${column(inside.kind)}, '') != 'gone'`)
          .where(isOnlyRow)
          .where(column<string>(words.unindexed('"end"')), 'in', [...ends])
          .orderBy('seq')
          .limit(limit),
      ),
    unrouted: () => allFacts(filesIn(db).where('state', 'in', ['held', 'retrying']).where(isUnrouted).orderBy('seq')),
    'too large': ({ after, limit }) =>
      allFacts(
        filesIn(db)
          .where('state', '=', 'held')
          .where('id', '>', after)
          .where(sql<boolean>`${code} = ${sql.lit(tooLargeCode)}`)
          .orderBy('id')
          .limit(limit),
      ),
    'stopped by disk': ({ folder, after, limit }) =>
      allFacts(
        filesIn(db)
          .where('state', 'in', ['failed', 'retrying', 'held'])
          .where(folderKey, '=', words.key(folder))
          .where('id', '>', after)
          .where(sql<boolean>`${code} in ${words.texts([unconfirmedCode, ...localFileCodes])}`)
          .orderBy('id')
          .limit(limit),
      ),
    'to compare': async ({ limit }) => (await often.toCompare(limit)).map(factsOf),
    'to adopt': () => allFacts(toAdopt),
  };
}

function twinConditions({ inside }: SqlWords) {
  /** Qualifies columns with a table name, for use in a subquery. */
  const of = (file: string, expression: string): string =>
    expression.replaceAll(/\b(last_failure|twin|over_kind)\b(?!')/g, `${file}.$1`);
  return {
    /** Id of the file that a duplicate was skipped for, as in the index `file_twin`. */
    twinOf: sql.raw<string>(of('file', inside.twin)),
    /**
     * Whether duplicates of a file may be skipped: the service has the file, did not fail to process it, and did not
     * delete it. Later decisions of an operator about the file do not matter.
     */
    stands: (file: string): RawBuilder<boolean> => {
      const column = (name: string): RawBuilder<unknown> => sql.ref(`${file}.${name}`);
      return sql`${column('uploaded_at')} is not null and ${column('remote_status')} is distinct from 'failed'
        and ${column('state')} <> 'held' and coalesce(${sql.raw(of(file, inside.overKind))}, '') <> 'gone'
        and (${column('state')} <> 'superseded' or ${column('ready_at')} is not null or ${column('remote_status')} = 'ready')`;
    },
  };
}
