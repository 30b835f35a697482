import { types, type ClientConfig } from 'pg';
import type { PostgresPlace } from './place.ts';

export interface Limits {
  /** For a connection: TCP, TLS and login together. */
  readonly connectMs: number;
  /** For one statement, enforced by the server. */
  readonly statementMs: number;
  /** For the answer to one statement, enforced by this host, because a hanging server measures nothing. */
  readonly answerMs: number;
}

/** The server ends sessions that hold locks and do nothing for this long, because their host sleeps or is gone. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/** Sets everything: pg would read missing values from the environment of the process. */
export function clientConfig(place: PostgresPlace, hostName: string, limits: Limits): ClientConfig {
  const { host, port, user, database, password, ca, tls } = place;
  return {
    host,
    port,
    user,
    database,
    password: () => password?.reveal() ?? '',
    ssl: tls && { rejectUnauthorized: true, ...(ca !== null && { ca }), minVersion: 'TLSv1.2' },
    sslnegotiation: 'postgres',
    application_name: `dropcast ${hostName}`,
    connectionTimeoutMillis: limits.connectMs,
    statement_timeout: limits.statementMs,
    query_timeout: limits.answerMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    client_encoding: 'UTF8',
    options: '-c TimeZone=UTC -c search_path=dropcast,public -c default_transaction_isolation=read\\ committed',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
  };
}

/** int8 and numeric: counts, sizes and milliseconds, all below 2^53. */
const numbers = new Set<number>([types.builtins.INT8, types.builtins.NUMERIC]);

function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return numbers.has(oid) && format !== 'binary' ? Number : types.getTypeParser(oid, format ?? 'text');
}
