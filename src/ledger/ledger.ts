import { setImmediate as nextTurn } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import type { Selectable, SelectQueryBuilder } from 'kysely';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Facts, FileState } from '../pipeline/file/facts.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import { StaleRowError } from '../pipeline/file/ports.ts';
import type { AmendStore, Claims, FileStore, IntakeStore, PublishStore, PutAwayStore } from '../pipeline/file/ports.ts';
import { createClaims } from './claims.ts';
import { createBackups } from './backups.ts';
import { catchUp } from './catch-up.ts';
import { explainOpening } from './explain-opening.ts';
import { createInserter } from './inserter.ts';
import { isLedgerThere, ledgerPath } from './lost-ledger.ts';
import { makeStateDirectory } from './make-state-directory.ts';
import { openDatabase } from './open-database.ts';
import { batchesOf, readyColumns } from './ready-batches.ts';
import { factsOf, rowOf } from './row.ts';
import type { FileTable, LedgerTables } from './schema.ts';
import { dialectOf } from './sqlite-dialect.ts';

type FilesQuery = SelectQueryBuilder<LedgerTables, 'file', Selectable<FileTable>>;

/** A line of a file's history. */
export interface HistoryLine {
  readonly at: number;
  readonly state: string;
  readonly note: string | null;
}

/** Which rows a listing is about. */
export interface FileFilter {
  readonly states?: readonly string[];
  /** Only files that came in or ended at or after this time (epoch milliseconds), or have not ended yet. */
  readonly since?: number;
  readonly limit: number;
  readonly newestFirst?: boolean;
}

/** What the daemon knows, for people and programs. */
export interface LedgerView {
  counts(): Promise<Readonly<Record<string, number>>>;
  list(filter: FileFilter): Promise<readonly Facts[]>;
  /** By id, by video id, by absolute path (the newest row there), by file name (the newest at each path), or by the beginning of an id. */
  find(name: string): Promise<readonly Facts[]>;
  history(id: string): Promise<readonly HistoryLine[]>;
  /** Create requests without an answer, of all files. */
  suspects(): Promise<number>;
  /** What the watchers need: every path that is not to be offered again, with its version. */
  known(folder: string): Promise<readonly { readonly path: string; readonly version: FileVersion }[]>;
}

/** The requests of the last hour, as the budget keeps them: one JSON value. */
export interface BudgetRow {
  load(): Promise<unknown>;
  save(spent: unknown): Promise<void>;
}

export interface Ledger
  extends FileStore, Claims, PublishStore, PutAwayStore, AmendStore, IntakeStore, LedgerView, AsyncDisposable {
  readonly budget: BudgetRow;
  /** Writes a copy to `backups/`, unless nothing was written since the last one. */
  backUp(): Promise<void>;
}

/** States in which a file is on its way to be ready. */
const underWay = ['queued', 'awaiting upload', 'processing'] as const;

// For the small partial indexes: their conditions as text, because SQLite does not see them in a bound value, and the state
// behind a `+`, which keeps it from reading all 100,000 rows that are done through the index on the state.
const isToBeDisposed = sql<boolean>`disposal = 'pending'`;
const unindexedState = sql<FileState>`+state`;
/** The same for a size that thousands of files may share, as the parts of a recording do. */
const unindexedSize = sql<number>`+size`;

/** Files of the same size that are compared at most. */
const mostTwins = 1_000;

/** For those that only look: the ledger, or null when nothing was ever written. @throws {LedgerError} see `openLedger` */
export async function openExistingLedger(stateDir: string): Promise<Ledger | null> {
  return (await isLedgerThere(stateDir)) ? openLedger(stateDir) : null;
}

/**
 * The durable rows of all files. One connection, one process; every write is on disk when its promise resolves.
 *
 * @throws {LedgerError} when it was lost, and see `openDatabase`
 */
export async function openLedger(stateDir: string): Promise<Ledger> {
  await makeStateDirectory(stateDir);
  // Whether or not: it refuses to begin anew where one was lost.
  await isLedgerThere(stateDir);
  const path = ledgerPath(stateDir);
  const database = await openDatabase(path);
  const db = new Kysely<LedgerTables>({ dialect: dialectOf(database) });
  try {
    await catchUp(db, stateDir);
  } catch (error) {
    await db.destroy();
    throw await explainOpening(error, path);
  }
  const files = (): FilesQuery => db.selectFrom('file').selectAll();
  const one = async (query: FilesQuery): Promise<Facts | null> => {
    const row = await query.orderBy('seq', 'desc').limit(1).executeTakeFirst();
    return row === undefined ? null : factsOf(row);
  };
  const many = async (query: FilesQuery): Promise<readonly Facts[]> => (await query.execute()).map(factsOf);

  const inserter = createInserter(async (batch) => {
    const at = Date.now();
    await db.transaction().execute(async (trx) => {
      for (const facts of batch) {
        await trx.insertInto('file').values(rowOf(facts)).execute();
        await trx
          .insertInto('history')
          .values({ file_id: facts.id, at, state: stateOf(facts), note: facts.why ?? 'complete' })
          .execute();
      }
    });
  });

  const load = (id: string): Promise<Facts | null> => one(files().where('id', '=', id));
  return {
    load,
    ...createClaims(load),
    save: async (facts, note) => {
      const saved: Facts = { ...facts, rev: facts.rev + 1 };
      const state = stateOf(saved);
      await db.transaction().execute(async (trx) => {
        const before = await trx
          .selectFrom('file')
          .select(['rev', 'state'])
          .where('id', '=', facts.id)
          .executeTakeFirst();
        if (before?.rev !== facts.rev) {
          throw new StaleRowError(`file ${facts.id}: expected revision ${facts.rev}, found ${before?.rev ?? 'no row'}`);
        }
        await trx.updateTable('file').set(rowOf(saved)).where('id', '=', facts.id).execute();
        if (before.state !== state || note !== undefined) {
          await trx
            .insertInto('history')
            .values({ file_id: facts.id, at: Date.now(), state, note: note ?? null })
            .execute();
        }
      });
      // SQLite works synchronously and all the rest is microtasks: who writes many rows in a row would stop every timer and socket.
      await nextTurn();
      return saved;
    },
    due: (state, now, limit) =>
      state === 'retrying'
        ? many(
            files().where(unindexedState, '=', state).where('not_before', '<=', now).orderBy('not_before').limit(limit),
          )
        : many(files().where('state', '=', state).orderBy('seq').limit(limit)),
    count: (...states) => countOf(db, states),
    twins: (facts) =>
      many(
        files()
          .where('size', '=', facts.version.size)
          .where('id', '!=', facts.id)
          .where('source_url', 'is', null)
          .where((eb) =>
            eb.or([
              eb('uploaded_at', 'is not', null).and('remote_status', '!=', 'failed').and('state', '!=', 'held'),
              eb('state', 'in', ['queued', 'awaiting upload', 'retrying']).and(
                'seq',
                '<',
                eb.selectFrom('file').select('seq').where('id', '=', facts.id),
              ),
            ]),
          )
          .orderBy('seq')
          .limit(mostTwins),
      ),
    insert: inserter,
    atPath: (folder, path) => one(files().where('folder', '=', folder).where('path', '=', path)),
    atLocation: (version) =>
      one(
        files()
          .where('ino', '=', version.ino)
          .where('birthtime_ns', '=', version.birthtimeNs)
          .where(unindexedSize, '=', version.size)
          .where('mtime_ns', '=', version.mtimeNs)
          .where('state', '!=', 'superseded'),
      ),
    unrouted: () => many(files().where('state', '=', 'held').where('plan', 'is', null).orderBy('seq')),
    waiting: async () => {
      const rows = db.selectFrom('file').select(readyColumns).where('state', '=', 'awaiting publish').orderBy('seq');
      return batchesOf(await rows.execute());
    },
    isExpecting: async (feed) => {
      const row = await db
        .selectFrom('file')
        .select('id')
        .where('state', 'in', underWay)
        .where(sql<boolean>`exists (select 1 from json_each(file.plan, '$.publish') where json_each.value = ${feed})`)
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
    toDispose: (limit) =>
      many(files().where(isToBeDisposed).where(unindexedState, '=', 'done').orderBy('seq').limit(limit)),
    toAmend: (limit) =>
      many(
        files()
          .where('amendment', 'is not', null)
          .where('video_id', 'is not', null)
          .where('dying', '=', 0)
          .where(unindexedState, 'in', ['processing', 'awaiting publish', 'done'])
          .orderBy('seq')
          .limit(limit),
      ),
    counts: async () => {
      const rows = await db
        .selectFrom('file')
        .select(['state', db.fn.countAll<number>().as('n')])
        .groupBy('state')
        .execute();
      return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
    },
    list: ({ states, since, limit, newestFirst }) => {
      const inStates = states === undefined ? files() : files().where('state', 'in', [...states]);
      const query =
        since === undefined
          ? inStates
          : inStates.where((eb) =>
              eb.or([eb('discovered_at', '>=', since), eb('ended_at', '>=', since), eb('ended_at', 'is', null)]),
            );
      return many(query.orderBy('seq', newestFirst === true ? 'desc' : 'asc').limit(limit));
    },
    find: (name) => findNamed(name, files, many),
    history: async (id) =>
      db.selectFrom('history').select(['at', 'state', 'note']).where('file_id', '=', id).orderBy('seq').execute(),
    suspects: async () => {
      const row = await db
        .selectFrom('file')
        .select(sql<number>`coalesce(sum(json_array_length(suspects)), 0)`.as('n'))
        .executeTakeFirst();
      return row?.n ?? 0;
    },
    known: async (folder) => {
      const rows = await db
        .selectFrom('file')
        .select(['path', 'dev', 'ino', 'birthtime_ns', 'size', 'mtime_ns', 'ctime_ns'])
        .where('folder', '=', folder)
        .where('state', 'not in', ['vanished', 'superseded'])
        .where((eb) => eb.or([eb('disposal', 'is', null), eb('disposal', '!=', 'deleted')]))
        .orderBy('seq')
        .execute();
      return rows.map(({ path, dev, ino, birthtime_ns, size, mtime_ns, ctime_ns }) => ({
        path,
        version: { dev, ino, birthtimeNs: birthtime_ns, size, mtimeNs: mtime_ns, ctimeNs: ctime_ns },
      }));
    },
    budget: {
      load: async () => {
        const row = await db.selectFrom('budget').select('spent').executeTakeFirst();
        return row === undefined ? null : (JSON.parse(row.spent) as unknown);
      },
      save: async (spent) => {
        const text = JSON.stringify(spent);
        await db
          .insertInto('budget')
          .values({ id: 1, spent: text })
          .onConflict((conflict) => conflict.column('id').doUpdateSet({ spent: text }))
          .execute();
      },
    },
    backUp: createBackups(database, stateDir),
    [Symbol.asyncDispose]: async () => {
      await db.destroy();
    },
  };
}

async function countOf(db: Kysely<LedgerTables>, states: readonly FileState[]): Promise<number> {
  const row = await db
    .selectFrom('file')
    .select(db.fn.countAll<number>().as('n'))
    .where('state', 'in', [...states])
    .executeTakeFirst();
  return row?.n ?? 0;
}

/** Files of one name that are listed at most. */
const mostNamed = 20;

async function findNamed(
  name: string,
  files: () => FilesQuery,
  many: (query: FilesQuery) => Promise<readonly Facts[]>,
): Promise<readonly Facts[]> {
  const exact = await many(files().where((eb) => eb.or([eb('id', '=', name), eb('video_id', '=', name)])));
  if (exact.length > 0) return exact;
  const atPath = await many(
    files()
      .where(sql<boolean>`folder || '/' || path = ${name}`)
      .orderBy('seq', 'desc')
      .limit(1),
  );
  if (atPath.length > 0) return atPath;
  const called = await many(
    files()
      .where(sql<boolean>`substr('/' || path, -1 - length(${name})) = '/' || ${name}`)
      .where(sql<boolean>`not exists (
        select 1 from file newer where newer.folder = file.folder and newer.path = file.path and newer.seq > file.seq)`)
      .limit(mostNamed),
  );
  if (called.length > 0) return called;
  return name.length < 4
    ? []
    : many(
        files()
          .where(sql<boolean>`substr(id, 1, ${name.length}) = ${name}`)
          .limit(mostNamed),
      );
}
