import { PgBoss } from 'pg-boss';
import type { Db, JobWithMetadata } from 'pg-boss';
import { notifyOf } from './postgres/connection.ts';
import { lockQuery } from './postgres/statement.ts';
import type { Ask, PostgresPool } from './postgres/pool.ts';
import { LedgerUnavailableError } from '../pipeline/file/store-errors.ts';

/** PostgreSQL schema for pg-boss's tables. */
export const jobSchema = 'dropcast_jobs';

/**
 * A job granted to this host. Its attempt number changes when it goes to another host, so the two values together are
 * the fence.
 */
export interface Grant {
  readonly job: string;
  readonly attempt: number;
}

/** Grants jobs through pg-boss, each to one host at a time: files, and the turn for work that only one host may do. */
export interface JobQueue extends AsyncDisposable {
  /**
   * Takes a free key in the transaction of `ask`.
   *
   * @param number must be the same for the same key, and fit an int4
   * @returns null if another host holds the key
   */
  take(ask: Ask, key: string, number: number): Promise<Grant | null>;
  /** Confirms that this host is running. @returns the jobs that it still holds */
  touch(grants: readonly Grant[]): Promise<ReadonlySet<string>>;
  /** Releases a key. Harmless if the key has gone to another host. */
  complete(grant: Grant, ask?: Ask): Promise<void>;
  /** Looks for silent hosts now and removes finished jobs. This also happens automatically. */
  supervise(): Promise<void>;
}

/** How long a host may be silent before another host takes over its jobs, in seconds: pg-boss's minimum. */
export const heartbeatSeconds = 10;

/** Maximum age of a job in milliseconds, set by pg-boss. Heartbeats do not extend it. */
export const longestJobMs = 86_400_000;

/** Interval between searches for silent hosts, in milliseconds. */
const lookEveryMs = 2_000;

/**
 * Pause after a database outage, in milliseconds. Every host seems silent then, so running hosts must report before the
 * next search.
 */
const calmMs = heartbeatSeconds * 1_000;

/** Time without an answer that counts as an outage, in milliseconds. */
const awayMs = 7_000;

/** How long finished jobs are kept, in seconds. The next round removes them. */
const keptSeconds = 60;

/**
 * Checks for a silent host before a pg-boss round is run, because a round costs two dozen statements. The `policy`
 * condition lets PostgreSQL use the partial index.
 */
const silentJobs = `select (extract(epoch from ${jobSchema}.job_now()) * 1000)::bigint as now, exists (
    select from ${jobSchema}.job where state = 'active' and policy = 'exclusive'
      and heartbeat_on + heartbeat_seconds * interval '1 second' < ${jobSchema}.job_now()) as silent`;

const queueOptions = {
  policy: 'exclusive',
  heartbeatSeconds,
  retryLimit: 1_000_000,
  retryDelay: 0,
  expireInSeconds: longestJobMs / 1_000,
  deleteAfterSeconds: keptSeconds,
} as const;

/** Locks jobs in the same order as writes do: see `fence`. */
const inOrder = `select from ${jobSchema}.job where name = $1 and (id, retry_count) in (select * from unnest($2::uuid[], $3::int[]))
  order by id for update`;

export interface JobQueueOptions {
  readonly pool: Pick<PostgresPool, 'rows' | 'transaction'>;
  readonly name: 'file' | 'turn';
  readonly hostName: string;
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Called when pg-boss fails outside of our calls. */
  broke(error: unknown): void;
}

/** Opens the pg-boss queue for one kind of grant. The first host creates pg-boss's tables. */
export async function openJobQueue(options: JobQueueOptions): Promise<JobQueue> {
  const { pool, name, hostName, elapsed, broke } = options;
  const boss = new PgBoss({
    db: databaseOf(pool.rows),
    schema: jobSchema,
    // This profile uses no advisory locks, which any role could hold (docs/decisions/0071-the-job-is-a-lease.md).
    backend: 'yugabytedb',
    supervise: false,
    schedule: false,
    maintenanceIntervalSeconds: keptSeconds,
    monitorIntervalSeconds: 1,
  });
  boss.on('error', broke);
  // Without the lock, two hosts starting at the same time would both create pg-boss's tables.
  await pool.transaction(async (ask) => {
    await ask(lockQuery('jobs'));
    await boss.start();
    await boss.createQueue(name, queueOptions);
  });
  // Makes pg-boss load the queue now instead of during a claim, which holds a connection and would wait for another.
  await boss.touch(name, attemptOf({ job: '00000000-0000-0000-0000-000000000000', attempt: 0 }));
  let answeredAt = elapsed();
  /** How far the database's clock is ahead of ours. */
  let aheadMs: number | null = null;
  let calmSince = answeredAt;
  let supervisedAt = answeredAt;
  let looking: Promise<unknown> | null = null;
  let supervising: Promise<unknown> | null = null;
  const supervise = async (isSomebodySilent: boolean): Promise<void> => {
    await boss.supervise();
    supervisedAt = elapsed();
    if (isSomebodySilent) await pool.rows(`SELECT ${notifyOf('free')}`);
  };
  const look = async (): Promise<void> => {
    const askedAt = elapsed();
    const [found] = await pool.rows<{ now: number; silent: boolean }>(silentJobs);
    const isSomebodySilent = found?.silent === true;
    const isAheadBy = (found?.now ?? 0) - askedAt;
    // If the database's clock was set, every host seems silent.
    const jumpedMs = aheadMs === null ? 0 : isAheadBy - aheadMs;
    aheadMs = isAheadBy;
    if (elapsed() - answeredAt > awayMs || jumpedMs > awayMs) calmSince = elapsed();
    answeredAt = elapsed();
    if (answeredAt - calmSince < calmMs) return;
    if (isSomebodySilent || answeredAt - supervisedAt > keptSeconds * 1_000)
      supervising ??= supervise(isSomebodySilent)
        .catch(failed)
        .finally(() => (supervising = null));
  };
  // An unreachable database is reported by the code that needs it.
  const failed = (error: unknown): void => void (error instanceof LedgerUnavailableError || broke(error));
  const lookOnce = (): void => {
    looking ??= look()
      .catch(failed)
      .finally(() => (looking = null));
  };
  // The file queue searches on behalf of all queues.
  const timer = name === 'file' ? setInterval(lookOnce, lookEveryMs).unref() : undefined;
  return {
    take: async (ask, key, number) => {
      const db = databaseOf(ask);
      await boss.send(name, { host: hostName }, { singletonKey: key, priority: number, db });
      const jobs = await boss.fetch<unknown>(name, {
        minPriority: number,
        maxPriority: number,
        includeMetadata: true,
        db,
      });
      const job = (jobs as readonly JobWithMetadata[]).find(({ singletonKey }) => singletonKey === key);
      return job === undefined ? null : { job: job.id, attempt: job.retryCount };
    },
    touch: async (grants) => {
      const attempts = grants.map(attemptOf);
      const touched = async (db?: Db): Promise<ReadonlySet<string>> => {
        const answer = await boss.touch(name, attempts, db === undefined ? {} : { db });
        return new Set((answer as unknown as { readonly settled: readonly string[] }).settled);
      };
      // A single job cannot deadlock, because no other lock is held.
      if (grants.length < 2) return touched();
      return pool.transaction(async (ask) => {
        await ask(inOrder, [name, grants.map(({ job }) => job), grants.map(({ attempt }) => attempt)]);
        return touched(databaseOf(ask));
      });
    },
    complete: async (grant, ask = pool.rows) => {
      await boss.complete(name, attemptOf(grant), undefined, { db: databaseOf(ask) });
    },
    supervise: () => boss.supervise(name),
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await looking;
      await supervising;
      await boss.stop({ graceful: false, close: false });
    },
  };
}

function attemptOf({ job, attempt }: Grant): { readonly id: string; readonly retryCount: number } {
  return { id: job, retryCount: attempt };
}

function databaseOf(ask: Ask): Db {
  return { executeSql: async (text, values = []) => ({ rows: [...(await ask(text, values))] }) };
}
