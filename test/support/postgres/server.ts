import { env } from 'node:process';
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { Client } from 'pg';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that all tests of the run share, as its superuser; null where there is none. */
    postgres: SharedServer | null;
  }
}

export interface SharedServer {
  /** Of the database postgres, over TCP. */
  readonly url: string;
}

/** A database of its own on the shared server, of the superuser. Leaving its block drops it, whoever is connected. */
export interface FreshDatabase extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
}

/** The server of the whole run: started by `global-setup.ts`, or the one that PGHOST names. */
export function postgresServer(): SharedServer {
  const server = inject('postgres');
  if (server === null || server === undefined) throw new Error('PostgreSQL is for tests named *.pg.test.ts');
  return server;
}

export async function freshDatabase(server: SharedServer = postgresServer()): Promise<FreshDatabase> {
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`;
  await ask(server, `create database ${name}`);
  const url = new URL(server.url);
  url.pathname = name;
  const drop = (): Promise<void> => ask(server, `drop database if exists ${name} with (force)`);
  return { url: url.href, name, [Symbol.asyncDispose]: drop };
}

async function ask({ url }: SharedServer, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The server that the environment names, as psql(1) would find it. */
export function serverOfEnvironment(): SharedServer | null {
  const { PGHOST, PGPORT = '5432', PGUSER = 'postgres', PGPASSWORD = '' } = env;
  if (PGHOST === undefined) return null;
  const user = [PGUSER, PGPASSWORD].filter(Boolean).map(encodeURIComponent).join(':');
  return { url: `postgres://${user}@${encodeURIComponent(PGHOST)}:${PGPORT}/postgres` };
}
