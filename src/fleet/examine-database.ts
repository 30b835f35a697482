import type { PostgresPool } from './postgres/pool.ts';

/** Schema version of pg-boss's tables in the installed release. */
export const knownJobSchema = 43;

/** The state of a fleet's database, for `doctor`. */
export interface DatabaseFacts {
  /** Server version, such as `15.10`. */
  readonly version: string;
  /** `server_version_num`, such as 150010. */
  readonly versionNumber: number;
  /** Whether the server is a standby, which accepts no changes. */
  readonly isStandby: boolean;
  /** Whether this connection is encrypted. */
  readonly isEncrypted: boolean;
  /** How far this host's clock is ahead of the server's, in milliseconds. */
  readonly clockAheadMs: number;
  /** Open connections of all users, and the most that roles without special rights may open. */
  readonly connections: { readonly open: number; readonly most: number };
  readonly user: string;
  /** Whether the database already has dropcast's tables. */
  readonly hasTables: boolean;
  /** Whether the user may create the tables. */
  readonly mayCreate: boolean;
  /** Tables that the user may not read or change. */
  readonly closedTables: readonly string[];
  /** Schema version of pg-boss's tables; null: no tables yet. */
  readonly jobSchema: number | null;
}

/** Reads the state of the database. Changes nothing. @throws {LedgerUnavailableError} */
export async function examineDatabase(pool: Pick<PostgresPool, 'rows'>, now: () => number): Promise<DatabaseFacts> {
  const askedAt = now();
  const [row] = await pool.rows(factsText);
  const ahead = (askedAt + now()) / 2 - Number(row?.['at']);
  const closedTables = row?.['closed'] as readonly string[];
  const isReadable = row?.['has_jobs'] === true && !closedTables.includes('dropcast_jobs.version');
  const [jobs] = isReadable ? await pool.rows('SELECT version FROM dropcast_jobs.version') : [];
  return {
    version: textOf(row?.['version']),
    versionNumber: Number(row?.['version_number']),
    isStandby: row?.['is_standby'] === true,
    isEncrypted: row?.['is_encrypted'] === true,
    clockAheadMs: Math.round(ahead),
    connections: { open: Number(row?.['open']), most: Number(row?.['most']) },
    user: textOf(row?.['user']),
    hasTables: row?.['has_tables'] === true,
    mayCreate: row?.['may_create'] === true,
    closedTables,
    jobSchema: jobs === undefined ? null : Number(jobs['version']),
  };
}

/** SQL condition for whether a table exists. It also finds tables that the user has no access to. */
const isThere = (schema: string, table: string): string =>
  `EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = '${schema}' AND relname = '${table}')`;

const factsText = `SELECT
  (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at,
  current_setting('server_version') AS version,
  current_setting('server_version_num')::int AS version_number,
  pg_is_in_recovery() AS is_standby,
  coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS is_encrypted,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS open,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
  current_user::text AS user,
  ${isThere('dropcast', 'file')} AS has_tables,
  ${isThere('dropcast_jobs', 'version')} AS has_jobs,
  has_database_privilege(current_database(), 'CREATE') AS may_create,
  ARRAY(SELECT relnamespace::regnamespace || '.' || relname FROM pg_class
    WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('dropcast', 'dropcast_jobs')) AND relkind IN ('r', 'p')
      AND NOT (has_schema_privilege(relnamespace, 'USAGE') AND has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
    ORDER BY 1)::text[] AS closed`;

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
