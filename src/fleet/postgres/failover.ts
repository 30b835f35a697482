import type { Ask } from './pool.ts';

/**
 * How long nothing new starts after the ledger moved to another server: within the 15 s after which it would count as
 * silent, each running host learns of it and adds its receipts.
 */
const calmMs = 20_000;

/** By the clock of the database. */
const now = '(1000*extract(epoch FROM clock_timestamp()))::bigint';

/**
 * Which server, timeline, database and tables. A restart of the same server keeps it, because nothing is lost then; a
 * standby that took over, or a restored backup, may lack the last writes. Any role may query it.
 */
const thisServer = `CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE concat_ws(' ',
  (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(pg_current_wal_lsn()), 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass('dropcast.file')::oid) END`;

/** The last server of the ledger, and since when; a new ledger has been on its first one forever. */
export const serverTable = `CREATE TABLE dropcast.server (id bigint PRIMARY KEY CHECK (id = 1), name text NOT NULL, since bigint NOT NULL);
  INSERT INTO dropcast.server VALUES (1, ${thisServer}, 0);`;

/** An SQL condition: whether every running host had the time to add its receipts. */
export const isSettled = `EXISTS (SELECT FROM dropcast.server WHERE name = ${thisServer} AND abs(${now} - since) >= ${calmMs})`;

/** Why something new has to wait. */
export const settling =
  'the database now runs on another server, or from a backup, and may lack the last writes: ' +
  `no new work starts for ${calmMs / 1_000} s, while each host adds its receipts`;

/**
 * The first host that meets another server records it, and the wait of all hosts begins.
 *
 * @returns whether the wait is not over
 */
export async function noteServer(ask: Ask): Promise<boolean> {
  const [found] = await ask<{ settles: boolean }>(`WITH noted AS (
      UPDATE dropcast.server SET name = ${thisServer}, since = ${now} WHERE name <> ${thisServer} RETURNING id
    ) SELECT EXISTS (SELECT FROM noted) OR NOT ${isSettled} AS settles`);
  return found?.settles === true;
}
