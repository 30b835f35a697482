import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { copyToPostgres, copyToSqlite } from '../../../src/fleet/copy/move.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { StoredRow, Value } from '../../../src/ledger/work.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { anyLedger, withDeletions, write } from './any-ledger.ts';
import { dump, freshFleet, toFleet, toHost } from './copying.ts';

/** Rows of one statement are 500. */
const parts = fc.constantFrom(0, 499, 500, 501, 1_001);

test('any ledger goes to PostgreSQL and comes back as it was', async () => {
  await using fleet = await freshFleet();
  await fc.assert(
    fc.asyncProperty(anyLedger, parts, async (any, count) => {
      await using scratch = await scratchDirectory();
      const [there, back] = [scratch.file('there'), scratch.file('back')];
      await fleet.clear();
      const deletion = [...(any.beside.deletion ?? []), ...withDeletions(count)];
      const id = await write({ ...any, beside: { ...any.beside, deletion } }, there);
      const before = dump(there);
      const copied = await copyToPostgres(there, fleet, toFleet);
      expect(await copyToSqlite(fleet, back, toHost)).toMatchObject(copied.map(({ table, rows }) => ({ table, rows })));
      expect(dump(there)).toEqual(before);
      expect(canonical(dump(back))).toEqual(canonical(before));
      await using ledger = await openLedger(back);
      expect([ledger.id, ledger.repairs]).toEqual([id, []]);
    }),
    { numRuns: 5 },
  );
});

/** As both stores have it. Checksums are judged where a ledger is opened. */
function canonical(rows: ReturnType<typeof dump>): unknown {
  return Object.fromEntries(
    Object.entries(rows).map(([table, all]) => [
      table,
      all.map((row) => storable(row)).toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
    ]),
  );
}

function storable(row: StoredRow): StoredRow {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => name !== 'checksum')
      .map(([name, value]): [string, Value] => [name, typeof value === 'string' ? withoutNul(value) : value]),
  );
}

/** Also what JSON escapes: half of a pair is replaced with a NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '\u{FFFD}').replaceAll(/(?<!\\)((?:\\\\)*)\\u(?:0000|d800)/g, '$1\u{FFFD}');
}
