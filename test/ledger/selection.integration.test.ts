import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Kysely } from 'kysely';
import type { CompiledQuery } from 'kysely';
import { openDatabase } from '../../src/ledger/sqlite/open-database.ts';
import { connectTo, dialectOf } from '../../src/ledger/sqlite/connection.ts';
import { rowOf } from '../../src/ledger/row.ts';
import type { LedgerTables } from '../../src/ledger/schema.ts';
import { createCounts, createSelection } from '../../src/ledger/selection.ts';
import { openStatements } from '../../src/ledger/sqlite/statements.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { fileOf, selectionContract, selections } from './selection-contract.ts';

/** A ledger with these files, and every query that is made of it. */
async function ledgerWith(files: Iterable<Facts>) {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const database = await openDatabase(scratch.file('ledger.db'));
  const statements = openStatements(database);
  const queries: CompiledQuery[] = [];
  const db = new Kysely<LedgerTables>({ dialect: dialectOf(statements), log: ({ query }) => void queries.push(query) });
  stack.defer(() => db.destroy());
  const add = async (facts: Facts): Promise<void> => insert(facts);
  const insert = (facts: Facts): void => {
    const row = rowOf(facts) as Record<string, string | number | null>;
    const names = Object.keys(row);
    statements.run(
      `INSERT INTO file (${names.map((name) => `"${name}"`).join()}) VALUES (${names.map(() => '?').join()})`,
      Object.values(row),
    );
  };
  statements.transaction(() => {
    for (const facts of files) insert(facts);
  });
  const plansOf = (): readonly string[] =>
    queries.map(({ sql, parameters }) =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...(parameters as string[]))
        .map(({ detail }) => String(detail))
        .join('; '),
    );
  const parts = stack.move();
  return {
    selection: createSelection({ ...connectTo(database, statements), db }),
    ...createCounts({ ...connectTo(database, statements), db }),
    add,
    queries,
    plansOf,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

selectionContract(ledgerWith);

describe('with 100,000 files', () => {
  let ledger: Awaited<ReturnType<typeof ledgerWith>>;
  beforeAll(async () => {
    ledger = await ledgerWith(
      (function* () {
        for (let n = 0; n < 100_000; n += 1) yield fileOf(n);
      })(),
    );
  });
  afterAll(() => ledger[Symbol.asyncDispose]());

  // A row has 700 bytes and more: reading all of them took 120 ms, reading the index takes 10.
  test.for(selections.slice(0, -4).map((selection) => [JSON.stringify(selection).slice(0, 80), selection] as const))(
    'no question reads the rows themselves: %s',
    async ([, selection]) => {
      ledger.queries.length = 0;
      await ledger.selection.page(selection, { limit: 50 });
      await ledger.selection.facets(selection);
      await ledger.count({ ...selection, newerThan: '5' });
      await ledger.selection.ids(selection, 100);
      const scans = ledger.plansOf().flatMap((plan) => plan.match(/(?:SCAN|SEARCH) file\b[^;]*/g) ?? []);
      expect(scans.length).toBeGreaterThan(2);
      for (const scan of scans)
        expect(scan).toMatch(/INDEX file_(?:listing|state)|INTEGER PRIMARY KEY|sqlite_autoindex_file_1|^SCAN file$/);
      // Without an index only in the order of the rows, as far as the page goes.
      const whole = ledger.plansOf().filter((plan) => plan === 'SCAN file');
      expect(whole.length).toBeLessThanOrEqual(selection === selections[0] || selection === selections[1] ? 2 : 0);
    },
  );

  test('pages to the end have every file once', async () => {
    const seen: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await ledger.selection.page({ cause: 'no_rule', folder: '/in/2' }, { limit: 2_000, after });
      seen.push(...page.files.map(({ id }) => id));
      if (!page.isMoreAfter) break;
      after = page.last ?? undefined;
    }
    expect(seen).toHaveLength(await ledger.count({ cause: 'no_rule', folder: '/in/2' }));
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('facets are few, however many values there are', async () => {
    const { channels } = await ledger.selection.facets({});
    expect(channels.map(({ files }) => files)).toEqual([31_250, 31_250, 31_250]);
  });
});
