import { types } from 'pg';
import type { ClientConfig } from 'pg';

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

/** Database address and login. Type of `ledger` in the configuration. */
export interface PostgresPlace {
  /** Host name, IP address, or absolute path of the directory with a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: { reveal(): string } | null;
  /** PEM text of the certificate authorities to trust; null: the system's. */
  readonly ca: string | null;
  /** Whether to use TLS. The certificate must be for `host`. */
  readonly tls: boolean;
}

/** Returns the display name, such as `PostgreSQL at db.example.com`. */
export function nameOf({ host, port }: PostgresPlace): string {
  return `PostgreSQL at ${host}${port === 5432 || host.startsWith('/') ? '' : `:${port}`}`;
}
