import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { tables } from '../../../src/fleet/copy/copy-ledger.ts';
import type { Table } from '../../../src/fleet/copy/copy-ledger.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { StoredRow } from '../../../src/ledger/work.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { someRows } from '../../ledger/some-rows.ts';

/** Rows of every table of a ledger. */
export interface AnyLedger {
  readonly files: readonly Facts[];
  readonly beside: Readonly<Partial<Record<Table, readonly StoredRow[]>>>;
}

/** What terminals, JSON, SQL and alphabets stumble over. A NUL is no part of a name, but of what a service says. */
const controls = ['\n', '\r', '\t', '\u0001', '\u001B', '\u007F', '\u0085', '\u2028', '\uFEFF', '\u202E'];
const letters = ['\uFFFD', '\uFFFF', '\u{10FFFF}', '\u{1F600}', 'e\u0301', 'é', 'ß', ' ', 'a'];
const marks = ['"', "'", '\\', '$1', '?', '%', '\\u0000', '{'];
const hostile = [...controls, ...letters, ...marks];
const name = fc.array(fc.constantFrom(...hostile), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
const said = fc.array(fc.constantFrom(...hostile, '\0', '\uD800'), { maxLength: 6 }).map((parts) => parts.join(''));

/** More than a btree of PostgreSQL takes, and it does not compress. */
const longName = fc
  .nat({ max: 9 })
  .map((n) => Array.from({ length: 36 }, (_, part) => hashOf(`${n} ${part}`)).join('/'))
  .filter((text) => Buffer.byteLength(text) > 2_704);

const folder = fc.oneof(
  fc.constantFrom('/', '/in', '/nas', '/nas/sub', 'ingest1:/nas', 'ingest9:/in', 'nas7:'),
  name.map((text) => `/${text}`),
  longName.map((text) => `/${text}`),
);

/** Which directory a folder is, each host remembers of its own. */
const ownFolder = folder.filter((text) => text.startsWith('/'));
const nameOrLong = fc.oneof({ weight: 4, arbitrary: name }, { weight: 1, arbitrary: longName });
const whole = fc.maxSafeInteger();
const flag = fc.constantFrom(0, 1);
const orNone = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value);

type Columns = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** The files and their history come from the ledger itself; of these two there is always a row. */
const columnsOf: Readonly<Record<Exclude<Table, 'file' | 'history' | 'identity' | 'budget'>, Columns>> = {
  create_request: { token: name, file_id: name, title: said, at: whole },
  deletion: { video_id: nameOrLong, at: whole },
  root: { folder: ownFolder, record: said },
  first_start: { folder, asked_ns: whole.map(String), began_ns: orNone(whole.map(String)), is_over: flag },
  listed_video: { id: nameOrLong, title: said, duration: orNone(fc.double({ noNaN: true })), status: name },
  listing: { id: fc.constant(1), next_page: whole, total: orNone(whole), is_whole: flag },
  audit_video: {
    id: name,
    title: said,
    channel: orNone(name),
    duration: orNone(fc.double({ noNaN: true })),
    status: name,
    is_known: flag,
  },
  audit_finding: { kind: name, file_id: name, note: orNone(said) },
  pause: { folder: fc.oneof(fc.constant(''), folder), since: whole, until: orNone(whole), by: said },
  feed_due: { feed: name, first_at: whole, last_at: whole, is_now: flag },
  outbox: { seq: fc.nat(), target: name, message: said, at: whole, tried_at: orNone(whole), refusals: whole },
  news_memory: { name, record: fc.json() },
  event: { seq: fc.nat(), host: name, at: whole, line: fc.json() },
  expected_file: {
    expectation: fc.tuple(folder, name, orNone(name)).map((parts) => JSON.stringify(parts)),
    file_id: name,
    at: whole,
  },
};

const files: fc.Arbitrary<readonly Facts[]> = fc
  .tuple(someRows, fc.array(fc.record({ folder, path: nameOrLong, said, title: said }), { maxLength: 10 }))
  .map(([rows, changes]) =>
    rows.map((facts, n) => {
      const change = changes[n];
      if (change === undefined) return facts;
      const { lastFailure, plan } = facts;
      return {
        ...facts,
        folder: change.folder,
        path: `${n}${change.path}`,
        why: change.said,
        plan: plan && { ...plan, title: change.title },
        lastFailure: lastFailure && { ...lastFailure, message: change.said },
      };
    }),
  );

const beside = fc.record(
  Object.fromEntries(
    Object.entries(columnsOf).map(([table, columns]) => [
      table,
      fc.uniqueArray(fc.record(columns), { maxLength: 4, selector: (row) => keyOf(table as Table, row) }),
    ]),
  ),
) as fc.Arbitrary<AnyLedger['beside']>;

/** Any ledger of one host, with all that a row can have in it. */
export const anyLedger: fc.Arbitrary<AnyLedger> = fc.record({ files, beside });

/** With a row for each number, for a table that is read in several parts. */
export function withDeletions(count: number): readonly StoredRow[] {
  return Array.from({ length: count }, (_, n) => ({ video_id: `${hostile[n % hostile.length]} ${n}`, at: n }));
}

/** Makes the ledger in a state directory. @returns its id */
export async function write({ files: all, beside: rows }: AnyLedger, stateDir: string): Promise<string> {
  const { id } = await insertAll(all, stateDir);
  {
    using database = new DatabaseSync(`${stateDir}/ledger.db`);
    database.exec('BEGIN');
    for (const [table, added] of Object.entries(rows)) for (const row of added) insert(database, table, row);
    database.exec('COMMIT');
  }
  // Opened once as at each start: tokens that no file has any more are forgotten.
  await (await openLedger(stateDir))[Symbol.asyncDispose]();
  return id;
}

async function insertAll(all: readonly Facts[], stateDir: string): Promise<{ readonly id: string }> {
  await using ledger = await openLedger(stateDir);
  await Promise.all(all.map((facts) => ledger.insert(facts)));
  await ledger.budget.save(all.map(({ discoveredAt }) => discoveredAt));
  return { id: ledger.id };
}

function insert(database: DatabaseSync, table: string, row: StoredRow): void {
  const names = Object.keys(row);
  const columns = names.map((each) => `"${each}"`).join(', ');
  database
    .prepare(`INSERT OR IGNORE INTO ${table} (${columns}) VALUES (${names.map(() => '?').join(', ')})`)
    .run(...Object.values(row));
}

/** Equal for rows that the other store takes for one: neither tells a NUL from what stands for it there. */
function keyOf(table: Table, row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(tables[table].key.map((column) => row[column]));
}

function hashOf(text: string): string {
  return createHash('sha512').update(text).digest('base64url');
}
