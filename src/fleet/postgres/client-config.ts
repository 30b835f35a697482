import { types, type ClientConfig } from 'pg';
import type { PostgresPlace } from './place.ts';

export interface Limits {
  /** Limit for connecting: TCP, TLS and login together. */
  readonly connectMs: number;
  /** Limit for one statement, enforced by the server. */
  readonly statementMs: number;
  /** Limit for the answer to one statement, enforced by this host because a hanging server enforces nothing. */
  readonly answerMs: number;
}

/**
 * Idle time after which the server ends a session with an open transaction. The host may be asleep or gone while its
 * locks block other hosts.
 */
const IDLE_IN_TRANSACTION_MS = 10_000;

/** Builds pg's configuration. Sets every value, because pg reads missing ones from the environment. */
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

/** Types to parse as numbers: counts, sizes and milliseconds, all below 2^53. */
const numbers = new Set<number>([types.builtins.INT8, types.builtins.NUMERIC]);

function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return numbers.has(oid) && format !== 'binary' ? Number : types.getTypeParser(oid, format ?? 'text');
}
