import { expect, test } from 'vitest';
import { LedgerError } from '../../../src/ledger/ledger-error.ts';
import { migrate } from '../../../src/fleet/postgres/migrations.ts';
import { nameOf } from '../../../src/fleet/postgres/client-config.ts';
import { openPool } from '../../../src/fleet/postgres/pool.ts';
import type { PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import { steps } from '../../../src/fleet/postgres/steps.ts';
import type { Step } from '../../../src/fleet/postgres/steps.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { freshDatabase } from '../../support/postgres/server.ts';

interface Database extends AsyncDisposable {
  readonly url: string;
  readonly pool: PostgresPool;
  migrate(more?: readonly Step[], pool?: PostgresPool, user?: string): Promise<void>;
}

async function openDatabase(): Promise<Database> {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await freshDatabase());
  const place = placeAt(url);
  const pool = stack.use(await openPool(place, { hostName: 'a' }));
  const parts = stack.move();
  return {
    url,
    pool,
    migrate: (more = [], by = pool, user = place.user) =>
      migrate({ pool: by, name: nameOf(place), user, steps: [...steps, ...more] }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const schemaOf = async ({ pool }: Database): Promise<unknown> =>
  (await pool.rows('SELECT count(*) AS n, max(step) AS step FROM dropcast.schema_step'))[0];

const adding: Step = { text: 'ALTER TABLE file ADD COLUMN colour text', needsAtLeast: steps.length };
const dropping: Step = { text: 'ALTER TABLE file DROP COLUMN host', needsAtLeast: steps.length + 1 };

test('two hosts that start at once make the tables once', async () => {
  await using database = await openDatabase();
  await using other = await openPool(placeAt(database.url), { hostName: 'b' });
  await Promise.all([
    database.migrate(),
    database.migrate([], other),
    database.migrate([adding]),
    database.migrate([], other),
  ]);
  expect(await schemaOf(database)).toEqual({ n: steps.length + 1, step: steps.length + 1 });
});

test('a step that only adds leaves the release before working', async () => {
  await using database = await openDatabase();
  await database.migrate([adding]);
  await database.migrate();
  expect(await schemaOf(database)).toEqual({ n: steps.length + 1, step: steps.length + 1 });
});

test('a host that is too old for the schema stops with a sentence', async () => {
  await using database = await openDatabase();
  await database.migrate([dropping]);
  await expect(database.migrate()).rejects.toThrow(
    new LedgerError(
      `the ledger at 127.0.0.1:${placeAt(database.url).port} has schema ${steps.length + 1}, but this dropcast knows only ${steps.length}: install the newer version`,
    ),
  );
});

test('a step that an older release cannot work with waits until that has ended everywhere', async () => {
  await using database = await openDatabase();
  await database.migrate();
  await database.pool.rows(`INSERT INTO host (name, instance, version, schema, started_at, heard_at, doing)
    VALUES ('ingest2', 'x', '1.4.0', ${steps.length}, 0, extract(epoch FROM clock_timestamp()) * 1000, '{}')`);
  await database.migrate([adding]);
  await expect(database.migrate([adding, { ...dropping, needsAtLeast: steps.length + 2 }])).rejects.toThrow(
    'this dropcast changes the ledger in a way that dropcast 1.4.0 cannot work with, and that version still runs on ingest2: upgrade or stop it there first',
  );
  await database.pool.rows('UPDATE host SET stopped_at = 1');
  await database.migrate([adding, { ...dropping, needsAtLeast: steps.length + 2 }]);
});

test('a step that fails leaves nothing of it, and the ones before', async () => {
  await using database = await openDatabase();
  const broken: Step = { text: 'CREATE TABLE half (id bigint); SELECT 1/0', needsAtLeast: 1 };
  await expect(database.migrate([adding, broken])).rejects.toThrow('division by zero');
  expect(await schemaOf(database)).toEqual({ n: steps.length + 1, step: steps.length + 1 });
  expect(await database.pool.rows("SELECT to_regclass('dropcast.half') AS half")).toEqual([{ half: null }]);
});

test('a schema of another program is left alone', async () => {
  await using database = await openDatabase();
  await database.pool.rows('CREATE SCHEMA dropcast');
  await database.pool.rows('CREATE TABLE dropcast.theirs (id bigint)');
  await expect(database.migrate()).rejects.toThrow(
    /has a schema dropcast of another program: set another database in ledger/,
  );
  await database.pool.rows('DROP TABLE dropcast.theirs');
  await database.migrate();
});

test('a pooler that drops the settings of our sessions is not worked with', async () => {
  await using database = await openDatabase();
  const dropping = {
    ...database.pool,
    rows: (text: string) =>
      database.pool.transaction(async (ask) => {
        await ask('SET LOCAL search_path = public');
        return await ask<never>(text);
      }),
  };
  await expect(database.migrate([], dropping)).rejects.toThrow(
    /loses our session settings, as poolers do: ledger must name PostgreSQL itself/,
  );
});

test('a user that may not create tables learns what an administrator has to run, and with that it works', async () => {
  await using database = await openDatabase();
  const { pool, url } = database;
  const user = `no body ${new URL(url).pathname.slice(1)}`;
  await pool.rows(`CREATE ROLE "${user}" LOGIN`);
  await using cleaning = new AsyncDisposableStack();
  cleaning.defer(async () => void (await pool.rows(`DROP OWNED BY "${user}"; DROP ROLE "${user}"`)));
  await using theirs = await openPool(placeAt(url, { user }), { hostName: 'b' });
  const refused = await database.migrate([], theirs, user).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(LedgerError);
  const [, command = ''] = /`(.*)`/.exec(String(refused)) ?? [];
  expect(command).toBe(
    `CREATE SCHEMA dropcast AUTHORIZATION "${user}"; CREATE SCHEMA dropcast_jobs AUTHORIZATION "${user}";`,
  );
  await pool.rows(command);
  await database.migrate([], theirs, user);
});

test('a user that may only read and write opens a ledger whose tables are there', async () => {
  await using database = await openDatabase();
  const { pool, url } = database;
  await database.migrate();
  const user = `reader_${new URL(url).pathname.slice(1)}`;
  await pool.rows(`CREATE ROLE ${user} LOGIN; GRANT USAGE ON SCHEMA dropcast TO ${user};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA dropcast TO ${user}`);
  await using cleaning = new AsyncDisposableStack();
  cleaning.defer(async () => void (await pool.rows(`DROP OWNED BY ${user}; DROP ROLE ${user}`)));
  await using theirs = await openPool(placeAt(url, { user }), { hostName: 'b' });
  await database.migrate([], theirs, user);
  await expect(database.migrate([adding], theirs, user)).rejects.toThrow(
    /the user .* may not do this: must be owner of table file/,
  );
});
