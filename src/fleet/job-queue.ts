import { PgBoss } from 'pg-boss';
import type { Db, JobWithMetadata } from 'pg-boss';
import { notifyOf } from './hints.ts';
import { lockQuery } from './postgres/locks.ts';
import type { Ask, PostgresPool } from './postgres/pool.ts';
import { LedgerUnavailableError } from '../pipeline/file/store-errors.ts';

/** The schema of pg-boss's tables. */
export const jobSchema = 'dropcast_jobs';

/** A job that this host was granted. A job that goes to another host gets another number of attempts: the two together are the fence. */
export interface Grant {
  readonly job: string;
  readonly attempt: number;
}

/** What pg-boss grants to one host at a time: files, and the turn to do what only one may do. */
export interface JobQueue extends AsyncDisposable {
  /**
   * Takes a key that nobody has, in the transaction of `ask`. The number is the same for the same key, and fits an int4.
   *
   * @returns null when another host has it
   */
  take(ask: Ask, key: string, number: number): Promise<Grant | null>;
  /** Says that this host lives. @returns jobs that are still ours */
  touch(grants: readonly Grant[]): Promise<ReadonlySet<string>>;
  /** Gives a key back. Harmless when it went to another host. */
  complete(grant: Grant, ask?: Ask): Promise<void>;
  /** Looks now for hosts that are silent, and removes what is over. It does so by itself as well. */
  supervise(): Promise<void>;
}

/** How long a host may be silent before another takes over what it has. pg-boss takes no less. */
export const heartbeatSeconds = 10;

/** pg-boss ends a job that is older, however often it was touched: its own limit. */
export const longestJobMs = 86_400_000;

/** How often silent hosts are looked for. */
const lookEveryMs = 2_000;

/**
 * After the database was away every host seems silent, and none is. Who lives says so before anybody looks.
 */
const calmMs = heartbeatSeconds * 1_000;

/** Without an answer for so long, the database was away: some looks may fail while it is not. */
const awayMs = 7_000;

/** Jobs that are over are kept for so long, and removed at the next round. */
const keptSeconds = 60;

/** pg-boss asks two dozen statements for a round: nobody needs it while no host is silent. Its policy says which index. */
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

/** The order in which writes lock jobs as well: see `fence`. */
const inOrder = `select from ${jobSchema}.job where name = $1 and (id, retry_count) in (select * from unnest($2::uuid[], $3::int[]))
  order by id for update`;

export interface JobQueueOptions {
  readonly pool: Pick<PostgresPool, 'rows' | 'transaction'>;
  /** `file` or `turn`. */
  readonly name: 'file' | 'turn';
  readonly hostName: string;
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** pg-boss failed beside a call of ours. */
  broke(error: unknown): void;
}

/** One queue of pg-boss for each kind of thing that is granted. The first host makes its tables. */
export async function openJobQueue(options: JobQueueOptions): Promise<JobQueue> {
  const { pool, name, hostName, elapsed, broke } = options;
  const boss = new PgBoss({
    db: databaseOf(pool.rows),
    schema: jobSchema,
    // The profile without advisory locks, which every role could hold (docs/decisions/0071-the-job-is-a-lease.md).
    backend: 'yugabytedb',
    supervise: false,
    schedule: false,
    maintenanceIntervalSeconds: keptSeconds,
    monitorIntervalSeconds: 1,
  });
  boss.on('error', broke);
  // Two hosts that start at the same time would both make pg-boss's tables.
  await pool.transaction(async (ask) => {
    await ask(lockQuery('jobs'));
    await boss.start();
    await boss.createQueue(name, queueOptions);
  });
  // pg-boss reads the queue once: not while a claim holds a connection and waits for another one.
  await boss.touch(name, attemptOf({ job: '00000000-0000-0000-0000-000000000000', attempt: 0 }));
  let answeredAt = elapsed();
  /** How far the clock of the database is ahead of ours. */
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
    // If it was set, each host seems silent.
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
  // That the database is away is told by whoever needs it.
  const failed = (error: unknown): void => void (error instanceof LedgerUnavailableError || broke(error));
  const lookOnce = (): void => {
    looking ??= look()
      .catch(failed)
      .finally(() => (looking = null));
  };
  // The queue of the files looks for all of them.
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
      // Alone, it waits for nothing while it has something.
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
