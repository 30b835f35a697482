import { mkdir, readdir, rename } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { copyToPostgres, copyToSqlite } from '../../../src/fleet/copy/move.ts';
import { LedgerError } from '../../../src/ledger/ledger-error.ts';
import { openExistingLedger, openLedger } from '../../../src/ledger/ledger.ts';
import { openSharedRows } from '../../../src/fleet/postgres/open.ts';
import { openPool, type PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { freshDatabase } from '../../support/postgres/server.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { everyState } from '../../ledger/every-state.ts';
import { dump, fill, fillBeside, fleetAt, folder, hostName } from './copying.ts';

const toPlaces = { translated: (folder: string) => `${hostName}:${folder}` };
const toFolders = { translated: (place: string) => place.slice(hostName.length + 1) };

test('a ledger goes to PostgreSQL and back, every row and its number, its checksums and its identity', async () => {
  await using scratch = await scratchDirectory();
  const [there, back] = [scratch.file('there'), scratch.file('back')];
  const id = await fill(there);
  fillBeside(there);
  await using database = await freshDatabase();
  await using fleet = await fleetAt(database.url);
  const progress: string[] = [];
  const copied = await copyToPostgres(there, fleet, {
    ...toPlaces,
    onProgress: ({ table, rows, of }) => progress.push(`${table} ${rows}/${of}`),
  });
  const files = everyState().length;
  expect(copied.find(({ table }) => table === 'file')).toEqual({
    table: 'file',
    rows: files,
    checksum: expect.stringMatching(/^[\da-f]{64}$/) as string,
  });
  expect(copied.every(({ table, rows }) => rows > 0 || table === 'create_request')).toBe(true);
  expect(progress).toContain(`file ${files}/${files}`);
  expect(await fleet.pool.rows('SELECT DISTINCT folder, host, checksum FROM file')).toEqual([
    { folder: `${hostName}:${folder}`, host: hostName, checksum: null },
  ]);
  expect(await fleet.pool.rows('SELECT folder FROM pause ORDER BY folder')).toEqual([
    { folder: '' },
    { folder: `${hostName}:${folder}` },
  ]);
  expect(await fleet.pool.rows('SELECT expectation FROM expected_file')).toEqual([
    { expectation: `["${hostName}:${folder}","*.mp4",null]` },
  ]);
  expect(await fleet.pool.rows('SELECT ledger, is_copy FROM identity')).toEqual([{ ledger: id, is_copy: 0 }]);

  const copiedBack = await copyToSqlite(fleet, back, toFolders);
  expect(copiedBack.map(({ table, rows }) => [table, rows])).toEqual(copied.map(({ table, rows }) => [table, rows]));
  const before = dump(there);
  expect(dump(back)).toEqual({
    ...before,
    outbox: [{ ...(before['outbox'] as object[])[0], message: '{"a":"ü\u{FFFD}"}' }],
  });
  await using ledger = await openLedger(back);
  expect(ledger.id).toBe(id);
  expect(ledger.repairs).toEqual([]);
});

test('copied files have every column as if the store of the fleet had written them', async () => {
  await using scratch = await scratchDirectory();
  await fill(scratch.file('there'));
  await using database = await freshDatabase();
  await using fleet = await fleetAt(database.url);
  await copyToPostgres(scratch.file('there'), fleet, toPlaces);
  await using other = await freshDatabase();
  await using written = await fleetAt(other.url);
  {
    const place = placeAt(other.url);
    const stateDir = scratch.file('here');
    const quiet = { visible: () => null, repaired: () => undefined, settles: () => undefined, moved: () => undefined };
    await using rows = await openSharedRows(written.pool, { place, stateDir, hostName, ...quiet });
    for (const facts of everyState()) await rows.insert({ ...facts, folder: `${hostName}:${folder}` });
  }
  const all = `SELECT * FROM file WHERE rev = 0 ORDER BY id`;
  const [copied, own] = [await fleet.pool.rows(all), await written.pool.rows(all)];
  expect(copied.length).toBeGreaterThan(20);
  expect(copied).toEqual(own.filter(({ id }) => copied.some((row) => row['id'] === id)));
});

test('new rows come after those that were copied', async () => {
  await using scratch = await scratchDirectory();
  await fill(scratch.path);
  await using database = await freshDatabase();
  await using fleet = await fleetAt(database.url);
  await copyToPostgres(scratch.path, fleet, toPlaces);
  const [row] = await fleet.pool.rows<{ isnext: boolean }>(
    `INSERT INTO history (file_id, at, state) VALUES ('f_1', 1, 'done') RETURNING seq = (SELECT max(seq) + 1 FROM history) AS isnext`,
  );
  expect(row).toEqual({ isnext: true });
});

test.for([
  ['has files already', `INSERT INTO deletion VALUES ('vid_1', 1)`, /already has a ledger that is not empty.*deletion/],
  [
    'has a member that was heard a moment ago',
    `INSERT INTO host (name, instance, version, schema, started_at, heard_at, doing)
      VALUES ('ingest2', 'a', '1', 1, 1, extract(epoch FROM clock_timestamp()) * 1000, '{}')`,
    /dropcast runs on ingest2 .*stop it there first/,
  ],
  [
    'changes what is written to it',
    `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.title := ''other''; RETURN NEW; END';
     CREATE TRIGGER spoil BEFORE INSERT ON listed_video FOR EACH ROW EXECUTE FUNCTION spoil()`,
    /the copy of the table listed_video differs/,
  ],
] as const)('nothing is copied to a database that %s', async ([, statement, why]) => {
  await using scratch = await scratchDirectory();
  await fill(scratch.path);
  await using database = await freshDatabase();
  await using fleet = await fleetAt(database.url);
  await using empty = await scratchDirectory();
  await copyToPostgres(empty.path, fleet, toPlaces);
  await fleet.pool.rows(statement);
  const copying = copyToPostgres(scratch.path, fleet, toPlaces);
  await expect(copying).rejects.toThrow(why);
  await expect(copying).rejects.toBeInstanceOf(LedgerError);
  expect(await count(fleet.pool)).toBe(0);
});

test('nothing is copied when the connection is cut in the middle', async () => {
  await using scratch = await scratchDirectory();
  await fill(scratch.path);
  await using database = await freshDatabase();
  await using fleet = await fleetAt(database.url);
  await using other = await openPool(placeAt(database.url), { hostName: 'other' });
  const copying = copyToPostgres(scratch.path, fleet, {
    ...toPlaces,
    onProgress: () =>
      void other.rows(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dropcast ${hostName}' AND datname = current_database()`,
      ),
  });
  await expect(copying).rejects.toBeInstanceOf(LedgerError);
  expect(await count(other)).toBe(0);
});

test('nothing is copied to a state directory with a ledger in it', async () => {
  await using scratch = await scratchDirectory();
  await fill(scratch.path);
  await using database = await freshDatabase();
  await using fleet = await fleetAt(database.url);
  await copyToPostgres(scratch.path, fleet, toPlaces);
  await using other = await scratchDirectory();
  await fill(other.path);
  const before = dump(other.path);
  await expect(copyToSqlite(fleet, other.path, toFolders)).rejects.toThrow('already has a ledger');
  expect(dump(other.path)).toEqual(before);
});

test('a ledger that went to PostgreSQL is not used again, until it is brought back', async () => {
  await using scratch = await scratchDirectory();
  const id = await fill(scratch.path);
  await using database = await freshDatabase();
  await using fleet = await fleetAt(database.url);
  await copyToPostgres(scratch.path, fleet, toPlaces);
  const old = dump(scratch.path);
  const isElsewhere =
    /is in PostgreSQL at db now: set `ledger` .* again, or bring it back with `dropcast ledger copy --from/;
  await expect(openLedger(scratch.path)).rejects.toThrow(isElsewhere);
  await expect(openExistingLedger(scratch.path)).rejects.toThrow(isElsewhere);
  await fleet.pool.rows("UPDATE file SET why = 'of the fleet'");
  await scratch.write('receipts.jsonl', '');
  await copyToSqlite(fleet, scratch.path, toFolders);
  await using ledger = await openLedger(scratch.path);
  expect(ledger.id).toBe(id);
  expect((await ledger.rows({ group: 'any', limit: 1 }))[0]?.why).toBe('of the fleet');
  const aside = (await readdir(scratch.path)).filter((name) => /^ledger\.db\.old-\d{14}$/.test(name));
  expect(aside).toHaveLength(1);
  await mkdir(scratch.file('was'));
  await rename(scratch.file(aside[0] ?? ''), scratch.file('was/ledger.db'));
  expect(dump(scratch.file('was'))).toEqual(old);
});

test('a copy back that was refused leaves the ledger where it is', async () => {
  await using scratch = await scratchDirectory();
  await fill(scratch.path);
  await using database = await freshDatabase();
  await using fleet = await fleetAt(database.url);
  await copyToPostgres(scratch.path, fleet, toPlaces);
  await fleet.pool.rows(
    `INSERT INTO host (name, instance, version, schema, started_at, heard_at, doing)
      SELECT 'ingest2', 'x', '1.0.0', 1, at, at, '{}' FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at) AS moment`,
  );
  await expect(copyToSqlite(fleet, scratch.path, toFolders)).rejects.toThrow('dropcast runs on ingest2');
  await expect(openLedger(scratch.path)).rejects.toThrow('is in PostgreSQL');
});

async function count(pool: PostgresPool): Promise<number> {
  const [row] = await pool.rows<{ n: number }>('SELECT count(*) AS n FROM file');
  return row?.n ?? NaN;
}
