import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { askPostgres, freeConnections, prepareDatabase, usePostgres } from './machine/postgres.ts';

/** A database that is as new for each life, on one server. */
export interface Databases extends AsyncDisposable {
  /** Makes it one in which nothing was ever done but opening it. Its connections stay: a new one costs more than most statements. */
  next(): Promise<void>;
}

/**
 * @param url of a server, as its superuser
 * @param open lets the program make its tables; once, for all lives
 */
export async function openDatabases(url: string, open: () => Promise<void>): Promise<Databases> {
  const folder = mkdtempSync(join(tmpdir(), 'dropcast-lives-'));
  chmodSync(folder, 0o755);
  const clock = join(folder, 'clock');
  writeFileSync(clock, '0000000000.000', { mode: 0o644 });
  const name = `lives_${process.pid}_${randomBytes(3).toString('hex')}`;
  await askOnce(url, `CREATE DATABASE ${name}`);
  await askOnce(urlOf(url, name), prepareDatabase(clock));
  await usePostgres({ url: urlOf(url, name), clock });
  await open();
  await freeConnections();
  await askPostgres(keep);
  return {
    next: async () => {
      await freeConnections();
      await askPostgres('SELECT kept.bring_back()');
    },
    [Symbol.asyncDispose]: async () => {
      await usePostgres(null);
      await askOnce(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Copies every row and number of a sequence, and makes a function that brings back just those. Triggers do not see it. */
const keep = `
  CREATE SCHEMA kept;
  DO $keep$
  DECLARE
    statements text := '';
    tables text;
    one record;
  BEGIN
    SELECT string_agg(oid::regclass::text, ', ') INTO tables FROM pg_class
      WHERE relkind IN ('r', 'p') AND relnamespace::regnamespace::text IN ('dropcast', 'dropcast_jobs', 'machine');
    FOR one IN SELECT oid, oid::regclass AS name,
        (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
          WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns FROM pg_class
      WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('dropcast', 'dropcast_jobs', 'machine')
    LOOP
      EXECUTE format('CREATE TABLE kept.t%s AS SELECT %s FROM %s', one.oid, one.columns, one.name);
      statements := statements || format(E'INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT * FROM kept.t%s;\\n',
        one.name, one.columns, one.oid);
    END LOOP;
    FOR one IN SELECT schemaname, sequencename, last_value FROM pg_sequences WHERE schemaname IN ('dropcast', 'dropcast_jobs', 'machine')
    LOOP
      statements := statements || format(E'PERFORM setval(%L, %s, %L);\\n',
        format('%I.%I', one.schemaname, one.sequencename), coalesce(one.last_value, 1), one.last_value IS NOT NULL);
    END LOOP;
    EXECUTE format($f$CREATE FUNCTION kept.bring_back() RETURNS void LANGUAGE plpgsql SET session_replication_role = replica AS $body$
      BEGIN
        TRUNCATE %s;
        %s
      END $body$$f$, tables, statements);
  END $keep$`;

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}

async function askOnce(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
