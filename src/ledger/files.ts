import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { FileStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { allFacts, factsOf, filesIn, firstFacts } from './row.ts';
import type { SqlWords } from './words.ts';
import { saveFacts } from './write-row.ts';

/** The rows for the steps of a file. */
export function createFiles({ db, words, prepared, write }: Connection): FileStore {
  const { stands, twinOf } = conditions(words);
  const withId = prepared(filesIn(db).where('id', '=', ''));
  const retrying = prepared(
    filesIn(db)
      .where(sql.raw<string>(words.unindexed('state')), '=', 'retrying')
      .where('not_before', '<=', 0)
      .orderBy('not_before')
      .orderBy('seq')
      .limit(0),
  );
  return {
    load: async (id) => firstFacts(await withId(id)),
    save: (facts, note) => write(() => saveFacts(words, facts, note), facts.id),
    due: async (state, now, limit) =>
      state === 'retrying'
        ? (await retrying(now, limit)).map(factsOf)
        : allFacts(
            filesIn(db)
              .where(sql<boolean>`${sql.raw(words.isIn('state', `'${state}'`))}`)
              .orderBy('state')
              .orderBy('seq')
              .limit(limit),
          ),
    count: async (...states) => {
      const row = await db
        .selectFrom('file')
        .select(db.fn.countAll<number>().as('n'))
        .where('state', 'in', [...states])
        .executeTakeFirst();
      return row?.n ?? 0;
    },
    twins: ({ id, version }, passing) =>
      allFacts(
        filesIn(db)
          .where('size', '=', version.size)
          .where('id', '!=', id)
          .where('source_url', 'is', null)
          .where((eb) => {
            const goesFirst = eb.or([
              // A file without a row comes last.
              sql<boolean>`seq < coalesce((select seq from file where id = ${id}), 9223372036854775807)`,
              // A file whose record is being deleted has none: it looks for twins again before it gets another.
              eb.and([eb('video_id', 'is not', null), eb('dying', '=', 0)]),
              eb('id', 'in', passing),
            ]);
            return eb.or([stands('file'), eb.and([eb('state', 'in', underWay), goesFirst])]);
          })
          .orderBy('seq')
          .limit(mostTwins),
      ),
    stranded: (twin) =>
      allFacts(
        filesIn(db)
          // Literal, or SQLite does not use the partial index `file_twin`.
          .where(sql<boolean>`state = 'skipped'`)
          .where(twinOf, twin === null ? 'is not' : '=', twin)
          .where(sql<boolean>`not exists (select 1 from file twin where twin.id = ${twinOf} and ${stands('twin')})`)
          .orderBy('seq'),
      ),
  };
}

/** Limit of files of the same size that are compared. */
const mostTwins = 1_000;

const underWay = ['queued', 'awaiting upload', 'retrying'];

function conditions({ inside }: SqlWords) {
  /** With the name of a table, for a query inside of a query. */
  const of = (file: string, expression: string): string =>
    expression.replaceAll(/\b(last_failure|twin|over_kind)\b(?!')/g, `${file}.$1`);
  return {
    /** The file that a duplicate was skipped for, as in the index `file_twin`. */
    twinOf: sql.raw<string>(of('file', inside.twin)),
    /**
     * Whether duplicates of a file may be skipped: the service has it, did not fail to process it, and it was not deleted there,
     * whatever an operator decided about the file since.
     */
    stands: (file: string): RawBuilder<boolean> => {
      const column = (name: string): RawBuilder<unknown> => sql.ref(`${file}.${name}`);
      return sql`${column('uploaded_at')} is not null and ${column('remote_status')} is distinct from 'failed'
        and ${column('state')} <> 'held' and coalesce(${sql.raw(of(file, inside.overKind))}, '') <> 'gone'
        and (${column('state')} <> 'superseded' or ${column('ready_at')} is not null or ${column('remote_status')} = 'ready')`;
    },
  };
}
