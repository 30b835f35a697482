import type { Ask } from './pool.ts';

/**
 * How long no new work starts after the ledger moved to another server, in milliseconds. A running host learns of the
 * move and adds its receipts within 15 s, or it counts as silent.
 */
const calmMs = 20_000;

/** Current time on the database's clock, in epoch milliseconds. */
const now = '(1000*extract(epoch FROM clock_timestamp()))::bigint';

/**
 * SQL that identifies the server, timeline, database and tables. It stays the same when a server restarts, because
 * nothing is lost. A promoted standby or a restored backup may lack the last writes, so it differs there. Any role may
 * query it.
 */
const thisServer = `CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE concat_ws(' ',
  (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(pg_current_wal_lsn()), 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass('dropcast.file')::oid) END`;

/**
 * Table with the ledger's last server, and the time since when. For a new ledger the time is 0, so nothing has to wait.
 */
export const serverTable = `CREATE TABLE dropcast.server (id bigint PRIMARY KEY CHECK (id = 1), name text NOT NULL, since bigint NOT NULL);
  INSERT INTO dropcast.server VALUES (1, ${thisServer}, 0);`;

/** SQL condition: every running host has had time to add its receipts. */
export const isSettled = `EXISTS (SELECT FROM dropcast.server WHERE name = ${thisServer} AND abs(${now} - since) >= ${calmMs})`;

/** Why new work has to wait after a failover. */
export const settling =
  'the database now runs on another server, or from a backup, and may lack the last writes: ' +
  `no new work starts for ${calmMs / 1_000} s, while each host adds its receipts`;

/**
 * Records a new server. The first host that meets it starts the waiting period of all hosts.
 *
 * @returns whether hosts still have to wait
 */
export async function noteServer(ask: Ask): Promise<boolean> {
  const [found] = await ask<{ settles: boolean }>(`WITH noted AS (
      UPDATE dropcast.server SET name = ${thisServer}, since = ${now} WHERE name <> ${thisServer} RETURNING id
    ) SELECT EXISTS (SELECT FROM noted) OR NOT ${isSettled} AS settles`);
  return found?.settles === true;
}
