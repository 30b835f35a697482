import { join } from 'node:path';
import { constants } from 'node:sqlite';
import type { DatabaseSync } from 'node:sqlite';
import { SqliteQueryCompiler } from 'kysely';
import type { CompiledQuery } from 'kysely';
import { expect, test, vi } from 'vitest';
import { openDatabase } from '../../src/ledger/sqlite/open-database.ts';
import { portsOf } from '../../src/ledger/ports-of.ts';
import { connectTo } from '../../src/ledger/sqlite/connection.ts';
import { openStatements } from '../../src/ledger/sqlite/statements.ts';
import type { Value } from '../../src/ledger/work.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, failure, someFacts, someVersion, uploaded } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { openInFile } from './opened-rows.ts';
import { viewContract } from './view-contract.ts';

/** The ports of the ledger over a database, with every query they make. */
async function openQueries() {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const database = await openDatabase(join(scratch.path, 'ledger.db'));
  const sql = openStatements(database);
  const queries: Query[] = [];
  const note = (text: string, parameters: readonly Value[]): void => void queries.push({ sql: text, parameters });
  const connection = connectTo(database, {
    ...sql,
    prepare: (text) => {
      const statement = sql.prepare(text);
      return { ...statement, all: (values) => (note(text, values), statement.all(values)) };
    },
    rows: (text, values) => (note(text, values), sql.rows(text, values)),
  });
  const { db } = connection;
  stack.defer(() => db.destroy());
  const ports = portsOf(connection);
  const parts = stack.move();
  return { database, queries, ports, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

type Query = Pick<CompiledQuery, 'sql' | 'parameters'>;
type Ports = Awaited<ReturnType<typeof openQueries>>['ports'];

function planOf(database: DatabaseSync, { sql, parameters }: Query): string {
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters as string[]));
  return steps.map(({ detail }) => String(detail)).join('; ');
}

/** What the daemon asks every second or for every file, and the index that answers. */
const questions: readonly [string, (ports: Ports) => Promise<unknown>, string][] = [
  ['rows in a state', ({ rows }) => rows({ group: 'in state', state: 'queued', limit: 10 }), 'file_state'],
  ['the place of a file in line', ({ before }) => before(['f_1'], 9, []), 'file_queue'],
  ['the lines in which files wait', ({ lines }) => lines(['f_1']), 'file_queue'],
  ['the heads of the queues', ({ heads }) => heads('queued', 4, ['f_1']), 'file_queue'],
  ['files with a deadline', ({ rows }) => rows({ group: 'due', limit: 500 }), 'file_urgent'],
  ['rows to try again', ({ rows }) => rows({ group: 'retrying', dueBy: 5, limit: 500 }), 'file_retrying'],
  ['how many are in a state', ({ count }) => count({ states: ['awaiting upload'] }), 'file_state'],
  ['what is left to do', ({ totals }) => totals('backlog'), 'file_state'],
  ['feeds of what is left to do', ({ totals }) => totals('feeds ahead'), 'file_state'],
  ['feeds to publish', ({ waiting }) => waiting(), 'file_state'],
  [
    'files on their way to a feed',
    ({ count }) => count({ states: ['queued', 'processing'], feed: 'feed_news' }, 1),
    'file_listing',
  ],
  ['local files to put away', ({ rows }) => rows({ group: 'to put away', limit: 8 }), 'file_disposal'],
  ['the videos of a sidecar', ({ pathsNamed }) => pathsNamed('/inbox', 'a/clip'), 'file_path'],
  ['local files that wait for the disk', ({ rows }) => rows({ group: 'waiting for disk', limit: 8 }), 'file_waiting'],
  [
    'local files whose time is over',
    ({ rows }) => rows({ group: 'expired', now: 5, folders: ['/inbox'], limit: 8 }),
    'file_later',
  ],
  ['files to compare with the service', ({ rows }) => rows({ group: 'to compare', limit: 1 }), 'file_existing'],
  ['how many wait to be adopted', ({ totals }) => totals('adoption'), 'file_existing'],
  ['disks that may be full', ({ fullMarks }) => fullMarks(['/inbox']), 'file_crowding'],
  [
    'local files to delete from a full disk',
    ({ rows }) => rows({ group: 'crowding', mark: { folder: '/inbox', whenFull: 85 }, limit: 8 }),
    'file_crowding',
  ],
  ['metadata to send', ({ rows }) => rows({ group: 'to amend', limit: 8 }), 'file_amendment'],
  ['twins of a file', ({ rows }) => rows({ group: 'twins', of: someFacts(), passing: ['f_2'] }), 'file_size'],
  ['those that were skipped for a file', ({ rows }) => rows({ group: 'stranded', twin: 'f_1' }), 'file_twin'],
  ['the file at a path', ({ atPath }) => atPath('/inbox', 'clip.mp4'), 'file_path'],
  ['the file with these bytes', ({ atLocation }) => atLocation(someFacts().version), 'file_location'],
  [
    'records that stay empty',
    ({ rows }) => rows({ group: 'abandoned', ends: ['superseded', 'vanished'], limit: 4 }),
    'file_empty_record',
  ],
  [
    'how many arrived in a period',
    ({ counts }) => counts({ where: { arrived: { from: 1, to: 2 } }, by: ['state'] }),
    'file_discovered',
  ],
  ['the file of a video', ({ count }) => count({ videoId: 'vid_1' }, 1), 'file_video'],
  [
    'how many ended in half an hour',
    ({ counts }) => counts({ where: { ended: { from: 1, to: 2 } }, by: ['state'], withBytes: true }),
    'file_day',
  ],
  ['when feeds were published last', ({ latestPublished }) => latestPublished(9), 'file_day'],
  ['rows that nothing routes', ({ rows }) => rows({ group: 'unrouted' }), 'file_state'],
];

// With 100,000 done rows, reading them all stops everything else.
test.each(questions)('an index answers for %s', async (_name, ask, index) => {
  await using opened = await openQueries();
  await ask(opened.ports);
  const plans = opened.queries.map((query) => planOf(opened.database, query));
  expect(plans).toHaveLength(1);
  expect(plans[0]).toContain(index);
  expect(plans[0]).not.toContain('SCAN other');
  // The whole of a partial index is little.
  expect(plans[0]).not.toMatch(
    /SCAN file(?! USING INDEX file_(?:disposal|waiting|amendment|retrying|existing|empty_record|urgent))/,
  );
});

test('for each of thousands of sidecars, the videos of it are found without reading the others of its folder', async () => {
  await using opened = await openQueries();
  await opened.ports.pathsNamed('/inbox', 'a/clip');
  const searches = opened.queries.flatMap((query) => planOf(opened.database, query).match(/SEARCH [^;]*/g) ?? []);
  expect(searches).not.toEqual([]);
  for (const search of searches) expect(search).toMatch(/\(folder=\? AND path/);
});

test('an index answers for what is retried, by stage', async () => {
  await using opened = await openQueries();
  await opened.ports.snapshot({ held: () => [], working: 1, needing: 1 });
  const asked = opened.queries.find((query) => query.sql.includes('AS stage FROM file'));
  expect(asked && planOf(opened.database, asked)).toContain('file_retrying');
});

// Sorting them took 23 times as long with 900 files in each queue.
test('the files of a queue are not sorted for its heads', async () => {
  await using opened = await openQueries();
  await opened.ports.heads('queued', 4, []);
  const plans = opened.queries.map((query) => planOf(opened.database, query)).join('; ');
  // The heads themselves are.
  expect(plans.match(/TEMP B-TREE/g)).toHaveLength(1);
});

test('a statement is prepared once, however often it runs', async () => {
  await using opened = await openQueries();
  const { ports, database } = opened;
  const prepare = vi.spyOn(database, 'prepare');
  let facts = someFacts();
  await ports.insert(facts);
  for (let n = 0; n < 3; n += 1) {
    facts = await ports.save({ ...facts, ...created }, 'a note');
    expect(await ports.load(facts.id)).toEqual(facts);
    expect(await ports.rows({ group: 'in state', state: 'awaiting upload', limit: 10 })).toEqual([facts]);
  }
  const texts = prepare.mock.calls.map(([text]) => text);
  expect(texts).toEqual([...new Set(texts)]);
});

test('indexes alone answer for each part of a snapshot: nothing reads or sorts all rows', async () => {
  await using opened = await openQueries();
  const { ports, queries, database } = opened;
  await ports.insert(someFacts({ end: 'failed', endedAt: 1, lastFailure: failure('permanent') }));
  queries.length = 0;
  await ports.snapshot({ held: () => ['f_1'], working: 5, needing: 5 });
  const plans = queries.map((query) => planOf(database, query));
  expect(plans.join('\n')).not.toMatch(/SCAN file$|SCAN file;|TEMP B-TREE/m);
  expect(plans.filter((plan) => plan.includes('file_cause')).length).toBeGreaterThanOrEqual(3);
});

// SQLite plans a statement anew when a bound value could have decided the plan: a LIMIT, or a column that a partial index names.
test.each(questions)('SQLite plans the statement once: %s', async (_name, ask) => {
  await using opened = await openQueries();
  const { ports, database } = opened;
  let planned = 0;
  // Called for each table and column while a statement is planned.
  database.setAuthorizer(() => {
    planned += 1;
    return constants.SQLITE_OK;
  });
  await ask(ports);
  expect(planned).toBeGreaterThan(0);
  planned = 0;
  await ask(ports);
  expect(planned).toBe(0);
});

test('what waits since when and what was done last, however many rows there are', async () => {
  await using opened = await openQueries();
  const { ports } = opened;
  expect(await ports.totals('waiting since')).toEqual({ oldest: null, done: null });
  const rows: readonly Partial<Facts>[] = [
    { discoveredAt: 10, end: 'done', endedAt: 500 },
    { discoveredAt: 20, end: 'failed', endedAt: 900 },
    { discoveredAt: 40, notBefore: 5 },
    { ...uploaded, discoveredAt: 30 },
    { discoveredAt: 50 },
    { discoveredAt: 60, end: 'done', endedAt: 400 },
  ];
  for (const [n, row] of rows.entries()) await ports.insert(someFacts({ ...row, id: `f_${n}`, path: `${n}.mp4` }));
  expect(await ports.totals('waiting since')).toEqual({ oldest: 30, done: 500 });
  const plans = opened.queries
    .filter(({ sql }) => sql.includes('oldest'))
    .map((query) => planOf(opened.database, query));
  for (const plan of plans) {
    expect(plan).toContain('file_state');
    expect(plan).toMatch(/file_ended|file_day/);
    expect(plan).not.toMatch(/SCAN file(?! USING INDEX (?:file_ended|file_day))|TEMP B-TREE/);
  }
});

test('queries for every file, or at every turn of the loop, are built once', async () => {
  await using opened = await openQueries();
  const { ports } = opened;
  const built = vi.spyOn(SqliteQueryCompiler.prototype, 'compileQuery');
  const ask = (): Promise<unknown> =>
    Promise.all([
      ports.load('f_1'),
      ports.atPath('/inbox', 'clip.mp4'),
      ports.atLocation(someVersion),
      ports.rows({ group: 'retrying', dueBy: 0, limit: 10 }),
      ports.rows({ group: 'to put away', limit: 8 }),
      ports.rows({ group: 'to amend', limit: 8 }),
      ports.rows({ group: 'to compare', limit: 1 }),
      ports.unanswered(),
    ]);
  await ask();
  expect(built).not.toHaveBeenCalled();
  built.mockRestore();
});

viewContract(openInFile);
