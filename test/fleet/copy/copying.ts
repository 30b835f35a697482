import { DatabaseSync } from 'node:sqlite';
import { toFolders, toPlaces } from '../../../src/fleet/commands/copy.ts';
import type { CopyOptions } from '../../../src/fleet/copy/copy-ledger.ts';
import type { Fleet } from '../../../src/fleet/copy/move.ts';
import { tables } from '../../../src/fleet/copy/copy-ledger.ts';
import { ledgerSchema } from '../../../src/fleet/postgres/migrations.ts';
import { openPool } from '../../../src/fleet/postgres/pool.ts';
import type { PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import { newAudit } from '../../../src/pipeline/rounds/audit.ts';
import type { StoredRow } from '../../../src/ledger/work.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { freshDatabase } from '../../support/postgres/server.ts';
import { besideRows, everyState } from '../../ledger/every-state.ts';

export const hostName = 'ingest1';

export const folder = '/srv/media/inbox';

/** Of a host with a share: `/nas`, and folders of its own. */
const folders = { hostName, shared: [{ path: '/nas', place: 'nas1:' }] };
export const toFleet: CopyOptions = { translated: toPlaces(folders) };
export const toHost: CopyOptions = { translated: toFolders(folders) };

export interface OpenedFleet extends Fleet, AsyncDisposable {}

export async function fleetAt(url: string): Promise<OpenedFleet> {
  const pool = await openPool(placeAt(url), { hostName });
  return {
    pool,
    name: 'PostgreSQL at db',
    user: 'postgres',
    hostName,
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

/** A fleet without rows, in a database of its own. */
export async function freshFleet(): Promise<OpenedFleet & { readonly url: string; clear(): Promise<void> }> {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await freshDatabase());
  const fleet = stack.use(await fleetAt(url));
  const parts = stack.move();
  return {
    ...fleet,
    url,
    clear: async () => void (await fleet.pool.rows(`DROP SCHEMA IF EXISTS ${ledgerSchema} CASCADE`)),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

export type Rows = Readonly<Record<string, readonly StoredRow[]>>;

/** All rows of a ledger in a file, table by table, in the order of their keys. */
export function dump(stateDir: string): Rows {
  using database = new DatabaseSync(`${stateDir}/ledger.db`);
  return Object.fromEntries(
    Object.entries(tables).map(([table, { key }]) => [
      table,
      database.prepare(`SELECT * FROM ${table} ORDER BY ${key.join(', ')}`).all() as StoredRow[],
    ]),
  );
}

/** How many rows each table of a fleet has, but for those that a new one is born with; an empty record: none. */
export async function rowsIn(pool: Pick<PostgresPool, 'rows'>): Promise<Readonly<Record<string, number>>> {
  const counts = Object.keys(tables).map((table) => `SELECT '${table}' AS "table", count(*) AS rows FROM ${table}`);
  const found = await pool.rows<{ table: string; rows: number }>(counts.join(' UNION ALL '));
  return Object.fromEntries(found.filter(({ rows }) => rows > 0).map(({ table, rows }) => [table, rows]));
}

/** Everything that a ledger can have in it. */
export async function fill(stateDir: string): Promise<string> {
  await using ledger = await openLedger(stateDir);
  for (const facts of everyState()) await ledger.insert({ ...facts, folder });
  const [first] = everyState();
  if (first !== undefined) await ledger.save({ ...first, folder, why: 'again' }, 'a note');
  await ledger.budget.save([1, 2, 3]);
  await ledger.roots.save(folder, besideRows.root);
  await ledger.saveFirstStart(folder, besideRows.firstStart);
  await ledger.addListed([besideRows.video], besideRows.listing);
  const run = newAudit({ folder: null, since: null, isQuick: true }, 'ann', 1, 5);
  await ledger.beginAudit(run);
  await ledger.addAudited([{ ...besideRows.video, channel: null }], () => run);
  await ledger.addFindings([{ kind: 'gone', fileId: 'f_1', note: null }], run);
  return ledger.id;
}

/** What no port of the ledger writes in a few lines. */
export function fillBeside(stateDir: string): void {
  const database = new DatabaseSync(`${stateDir}/ledger.db`);
  database.exec(`
    INSERT INTO pause VALUES ('${folder}', 5, NULL, 'ann'), ('', 6, 7, 'bob');
    INSERT INTO deletion VALUES ('vid_gone', 8);
    INSERT INTO feed_due (feed, first_at, last_at, is_now) VALUES ('feed_news', 1, 2, 1);
    INSERT INTO outbox (target, message, at, tried_at, refusals) VALUES ('ntfy', '{"a":"ü' || char(0) || '"}', 3, NULL, 2);
    INSERT INTO news_memory VALUES ('told', '{}');
    INSERT INTO event (host, at, line) VALUES ('ingest1', 9, '{}');
    INSERT INTO expected_file VALUES ('["${folder}","*.mp4",null]', 'f_1', 4);
  `);
  database.close();
}
