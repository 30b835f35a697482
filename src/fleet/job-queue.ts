import { PgBoss } from 'pg-boss';
import type { Db, JobWithMetadata } from 'pg-boss';
import { notifyOf } from './hints.ts';
import { lockQuery } from './postgres/locks.ts';
import type { Ask, PostgresPool } from './postgres/pool.ts';
import { LedgerUnavailableError } from '../pipeline/file/store-errors.ts';

/** The schema of pg-boss's tables. */
export const jobSchema = 'dropcast_jobs';

/**
 * A job granted to this host. When it goes to another host, its attempt number changes: the two together are the fence.
 */
export interface Grant {
  readonly job: string;
  readonly attempt: number;
}

/** Grants from pg-boss, each to one host at a time: files, and the turn to do the work that only one host may do. */
export interface JobQueue extends AsyncDisposable {
  /**
   * Takes a free key, in the transaction of `ask`. The number is the same for the same key, and fits an int4.
   *
   * @returns null when another host holds it
   */
  take(ask: Ask, key: string, number: number): Promise<Grant | null>;
  /** Confirms that this host is running. @returns the jobs that it still holds */
  touch(grants: readonly Grant[]): Promise<ReadonlySet<string>>;
  /** Releases a key. Harmless after it went to another host. */
  complete(grant: Grant, ask?: Ask): Promise<void>;
  /** Looks for silent hosts now, and removes finished jobs. This also happens automatically. */
  supervise(): Promise<void>;
}

/** How long a host may be silent before another takes over its jobs. pg-boss's minimum. */
export const heartbeatSeconds = 10;

/** pg-boss ends an older job, however often it was touched: this is its own limit. */
export const longestJobMs = 86_400_000;

/** How often silent hosts are searched. */
const lookEveryMs = 2_000;

/**
 * After an outage of the database every host seems silent although none is, so running hosts report before the next
 * search.
 */
const calmMs = heartbeatSeconds * 1_000;

/** Without an answer for this long, the database was away; shorter failures are not an outage. */
const awayMs = 7_000;

/** Finished jobs are kept for this long, and removed by the next round. */
const keptSeconds = 60;

/**
 * A round of pg-boss takes two dozen statements, which are unnecessary while no host is silent. Its policy decides the
 * index.
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

/** The order in which writes lock jobs too: see `fence`. */
const inOrder = `select from ${jobSchema}.job where name = $1 and (id, retry_count) in (select * from unnest($2::uuid[], $3::int[]))
  order by id for update`;

export interface JobQueueOptions {
  readonly pool: Pick<PostgresPool, 'rows' | 'transaction'>;
  /** `file` or `turn`. */
  readonly name: 'file' | 'turn';
  readonly hostName: string;
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** pg-boss failed outside of our calls. */
  broke(error: unknown): void;
}

/** Opens one queue of pg-boss for each kind of grant. The first host creates its tables. */
export async function openJobQueue(options: JobQueueOptions): Promise<JobQueue> {
  const { pool, name, hostName, elapsed, broke } = options;
  const boss = new PgBoss({
    db: databaseOf(pool.rows),
    schema: jobSchema,
    // The profile without advisory locks, which any role could hold (docs/decisions/0071-the-job-is-a-lease.md).
    backend: 'yugabytedb',
    supervise: false,
    schedule: false,
    maintenanceIntervalSeconds: keptSeconds,
    monitorIntervalSeconds: 1,
  });
  boss.on('error', broke);
  // Two hosts that start at the same time would both create pg-boss's tables.
  await pool.transaction(async (ask) => {
    await ask(lockQuery('jobs'));
    await boss.start();
    await boss.createQueue(name, queueOptions);
  });
  // Makes pg-boss read the queue once now, and not while a claim holds a connection and waits for another one.
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
    // If the clock was set, each host seems silent.
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
  // The code that needs the database reports its absence.
  const failed = (error: unknown): void => void (error instanceof LedgerUnavailableError || broke(error));
  const lookOnce = (): void => {
    looking ??= look()
      .catch(failed)
      .finally(() => (looking = null));
  };
  // The queue of files searches for all queues.
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
      // A single job waits for no lock while it holds another.
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
