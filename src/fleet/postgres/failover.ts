import type { Ask } from './pool.ts';

/**
 * How long nothing new is taken up after the ledger went on as another server: a host that lives hears of it, and brings in its receipts, within
 * the 15 s after which it would count as silent.
 */
const calmMs = 20_000;

/** By the clock of the database. */
const now = '(1000*extract(epoch FROM clock_timestamp()))::bigint';

/**
 * Which server, which timeline of it, which database and which tables. It stays the same when that server starts again, as nothing is lost
 * then; a standby that took over, and what was restored from a backup, may lack the last writes. Any role may ask for it.
 */
const thisServer = `CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE concat_ws(' ',
  (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(pg_current_wal_lsn()), 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass('dropcast.file')::oid) END`;

/** The server that the ledger was on last, and since when; a ledger that begins has been on its first one for ever. */
export const serverTable = `CREATE TABLE dropcast.server (id bigint PRIMARY KEY CHECK (id = 1), name text NOT NULL, since bigint NOT NULL);
  INSERT INTO dropcast.server VALUES (1, ${thisServer}, 0);`;

/** As a condition: whether every host that lives had the time to bring in what its receipts know. */
export const isSettled = `EXISTS (SELECT FROM dropcast.server WHERE name = ${thisServer} AND abs(${now} - since) >= ${calmMs})`;

/** Why something new has to wait. */
export const settling =
  'the database went on as another server, or from a backup, and may lack the last writes: ' +
  `nothing new is taken up for ${calmMs / 1_000} s, while each host brings in its receipts`;

/**
 * The first host that meets another server writes it down, and the time of all hosts begins.
 *
 * @returns whether it is not over
 */
export async function noteServer(ask: Ask): Promise<boolean> {
  const [found] = await ask<{ settles: boolean }>(`WITH noted AS (
      UPDATE dropcast.server SET name = ${thisServer}, since = ${now} WHERE name <> ${thisServer} RETURNING id
    ) SELECT EXISTS (SELECT FROM noted) OR NOT ${isSettled} AS settles`);
  return found?.settles === true;
}
