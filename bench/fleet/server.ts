import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Client } from 'pg';
import { startCluster } from '../../test/support/postgres/cluster.ts';
import { descendantsOf } from '../../test/support/started-processes.ts';
import { cpuSecondsWithEnded } from '../child.ts';

/** A PostgreSQL server that tells what it did. Only the connection that asks is not counted. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  ask(statement: string): Promise<readonly Record<string, unknown>[]>;
  /** Statements since the last `forget`, and the milliseconds that the server needed for them. */
  statements(): Promise<{ readonly calls: number; readonly ms: number }>;
  forget(): Promise<void>;
  /** CPU seconds of all its processes so far, those that ended included. */
  cpuSeconds(): Promise<number>;
}

export async function startServer(): Promise<Server> {
  // The user of the server has to get there.
  await chmod(tmpdir(), 0o755);
  const settings = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track_planning': true };
  const cluster = await startCluster({ settings });
  const client = new Client({ connectionString: cluster.url });
  await client.connect();
  await client.query('CREATE EXTENSION pg_stat_statements');
  const ask = async (statement: string) => (await client.query<Record<string, unknown>>(statement)).rows;
  return {
    url: cluster.url,
    port: cluster.port,
    ask,
    statements: async () => {
      const [row] = await ask(`
        SELECT coalesce(sum(calls), 0)::int AS calls, coalesce(sum(total_exec_time + total_plan_time), 0)::float8 AS ms
        FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'`);
      return { calls: Number(row?.['calls']), ms: Number(row?.['ms']) };
    },
    forget: async () => void (await ask('SELECT pg_stat_statements_reset()')),
    cpuSeconds: async () => {
      const all = await Promise.all([cluster.pid, ...descendantsOf(cluster.pid)].map(cpuSecondsWithEnded));
      return all.reduce((sum, each) => sum + each, 0);
    },
    [Symbol.asyncDispose]: async () => {
      await client.end();
      await cluster[Symbol.asyncDispose]();
    },
  };
}
