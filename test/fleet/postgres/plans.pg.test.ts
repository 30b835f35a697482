import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTo } from '../../../src/fleet/postgres/connection.ts';
import type { Ask, PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import { postgresWords } from '../../../src/fleet/postgres/words.ts';
import { portsOf } from '../../../src/ledger/ports-of.ts';
import { failure, someFacts } from '../../pipeline/some-facts.ts';
import type { Rows } from '../../ledger/opened-rows.ts';
import { openShared } from './open-shared.ts';

/** A ledger with many rows, old ones that are done before new ones that wait, and what it is asked. */
async function openMany() {
  await using stack = new AsyncDisposableStack();
  const opened = stack.use(await openShared());
  const { pool, rows } = opened;
  await rows.insert(someFacts({ id: 'done', end: 'done', endedAt: 5, why: 'it is live' }));
  await multiply(pool, 'done', 10_000);
  await rows.insert(someFacts({ id: 'waits', path: 'waits.mp4' }));
  await multiply(pool, 'waits', 10_000);
  await rows.insert(
    someFacts({ id: 'fails', path: 'fails.mp4', end: 'failed', endedAt: 5, lastFailure: failure('permanent') }),
  );
  await multiply(pool, 'fails', 3_000);
  await rows.insert(someFacts({ id: 'elsewhere', folder: '/elsewhere' }));
  await multiply(pool, 'elsewhere', 3_000);
  await rows.insert(someFacts({ id: 'last', folder: '/last' }));
  await pool.rows('vacuum analyze dropcast.file');
  const asked: { readonly text: string; readonly values: readonly unknown[] }[] = [];
  const noting =
    (ask: Ask): Ask =>
    async (text, values = []) => {
      asked.push({ text, values });
      return ask(text, values);
    };
  const noted: Pick<PostgresPool, 'rows' | 'transaction'> = {
    rows: noting(pool.rows),
    transaction: (work, kind) => pool.transaction((ask) => work(noting(ask)), kind),
  };
  const words = postgresWords('one', () => ({ names: ['/inbox', '/last'], below: 'one:', without: [] }));
  const parts = stack.move();
  return {
    ports: portsOf(connectTo({ pool: noted, words, host: 'one', moved: async () => {} })),
    /** How many rows each part of each statement reads at most. */
    reads: async (): Promise<number> => {
      const most = asked.splice(0).map(async ({ text, values }) => {
        const given = values.map((value) =>
          value === null ? 'NULL' : `'${(value as string | number).toString().replaceAll("'", "''")}'`,
        );
        return pool.transaction(async (ask) => {
          if (given.length > 0) await ask(`prepare asked as ${text}`);
          const command = given.length > 0 ? `execute asked (${given.join()})` : text;
          // From the sixth execution on, PostgreSQL may use one plan for all values.
          if (given.length > 0) for (let n = 0; n < 6; n += 1) await ask(command);
          const options = 'analyze, timing off, format json';
          const [answer] = await ask<{ 'QUERY PLAN': readonly [{ Plan: Node }] }>(`explain (${options}) ${command}`);
          if (given.length > 0) await ask('deallocate asked');
          return mostRows(answer?.['QUERY PLAN'][0].Plan);
        });
      });
      return Math.max(...(await Promise.all(most)));
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Copies of a row, each at a path of its own. */
async function multiply(pool: PostgresPool, id: string, times: number): Promise<void> {
  const columns = await pool.rows<{ name: string }>(
    `select quote_ident(column_name) as name from information_schema.columns where table_schema = 'dropcast' and table_name = 'file'
      and column_name not in ('seq', 'id', 'path', 'path_key', 'ino')`,
  );
  const names = columns.map(({ name }) => name).join(', ');
  await pool.rows(
    `insert into dropcast.file (id, path, path_key, ino, ${names}) select id || '_' || n, n || path, n || path_key, id || n, ${names}
      from dropcast.file, generate_series(1, $2::int) n where id = $1`,
    [id, times],
  );
}

interface Node {
  readonly Plans?: readonly Node[];
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
}

function mostRows(node: Node | undefined): number {
  if (node === undefined) return 0;
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return Math.max(own, ...(node.Plans ?? []).map(mostRows));
}

let opened: Awaited<ReturnType<typeof openMany>>;
beforeAll(async () => {
  opened = await openMany();
});
afterAll(() => opened[Symbol.asyncDispose]());

const questions: readonly [string, (rows: Rows) => Promise<unknown>][] = [
  ['the heads of the queues, but for folders that this host cannot read', ({ heads }) => heads('queued', 4, ['waits'])],
  ['a row', ({ load }) => load('waits_7')],
  ['the file at a path', ({ atPath }) => atPath('/inbox', '7waits.mp4')],
  ['the paths with a stem', ({ pathsNamed }) => pathsNamed('/inbox', '7waits')],
  ['the first full disk marks', ({ fullMarks }) => fullMarks(['/inbox'])],
  ['the file with these bytes', ({ atLocation }) => atLocation(someFacts().version)],
  ['rows in a state', ({ rows }) => rows({ group: 'in state', state: 'queued', limit: 10 })],
  ['files with a deadline', ({ rows }) => rows({ group: 'due', limit: 50 })],
  ['rows to try again', ({ rows }) => rows({ group: 'retrying', dueBy: 5, limit: 500 })],
  ['local files to put away', ({ rows }) => rows({ group: 'to put away', limit: 8 })],
  ['metadata to send', ({ rows }) => rows({ group: 'to amend', limit: 8 })],
  ['files to compare with the service', ({ rows }) => rows({ group: 'to compare', limit: 1 })],
  ['local files whose time is over', ({ rows }) => rows({ group: 'expired', now: 5, folders: ['/inbox'], limit: 8 })],
  ['feeds to publish', ({ waiting }) => waiting()],
  ['what waits since when', ({ totals }) => totals('waiting since')],
  ['the newest files', ({ selection }) => selection.page({}, { limit: 50 })],
  ['the newest files that wait', ({ selection }) => selection.page({ states: ['queued'] }, { limit: 50 })],
];

// What is asked every second or for every file.
test.each(questions)('with many rows, PostgreSQL reads a few of them for %s', async (_name, ask) => {
  await ask(opened.ports);
  expect(await opened.reads()).toBeLessThan(100);
});
