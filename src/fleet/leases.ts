import { isSettled } from './postgres/outcome.ts';
import type { Query } from '../ledger/work.ts';
import type { Ask, PostgresPool } from './postgres/pool.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Claim, Claims, Turn } from '../pipeline/file/ports.ts';
import { HeldJobs } from './held-jobs.ts';
import type { HeldJob, HeldJobsOptions } from './held-jobs.ts';
import { jobSchema } from './job-queue.ts';

/** Claims of one host in a fleet. */
export interface Leases extends Claims, AsyncDisposable {
  /**
   * Returns a query that proves, in the transaction of a write, that this host still holds the files: it selects the
   * `id` of each file held.
   */
  fence(ids: readonly string[]): Query;
}

interface LeasesOptions extends HeldJobsOptions {
  /** Reads the row of a granted file. */
  load(id: string): Promise<Facts | null>;
}

/**
 * Leases on files: the ledger chooses the next file, and pg-boss grants one job at a time for it
 * ([why](../../docs/decisions/0071-the-job-is-a-lease.md)).
 */
export function createLeases(options: LeasesOptions): Leases {
  const jobs = new HeldJobs(options);
  return {
    claim: async (id) => {
      const job = await jobs.take(id, (ask) => numberOf(ask, id));
      return job === null ? null : claimOf(id, job, options);
    },
    fence: (ids) => {
      const grants = ids.map((id) => [id, jobs.grantOf(id)] as const);
      const held = grants.flatMap(([id, grant]) => (grant === null ? [] : [[id, grant.job, grant.attempt]]));
      return { text: fenceText, values: [JSON.stringify(held)] };
    },
    [Symbol.asyncDispose]: () => jobs[Symbol.asyncDispose](),
  };
}

/** Turns a granted job into a claim. The row is read after the grant, when the previous holder can no longer write. */
async function claimOf(id: string, job: HeldJob, { load }: LeasesOptions): Promise<Claim | null> {
  const { lost, confirm, sends, release } = job;
  try {
    const facts = await load(id);
    if (facts === null) await release();
    return facts === null ? null : { facts, lost, renew: confirm, sends, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * Locks the jobs until the writes are done, so that no job goes to another host in between. Heartbeats lock in the same
 * order.
 */
const fenceText = `select held.value ->> 0 as id from jsonb_array_elements(?::jsonb) as held
  join ${jobSchema}.job on job.name = 'file' and job.id = (held.value ->> 1)::uuid and job.retry_count = (held.value ->> 2)::int
  where job.state = 'active' order by job.id for update of job`;

const mostNumber = 2 ** 31 - 1;

/** Reads a file's row number, which pg-boss stores as an int4 priority. @throws {Error} after two billion files */
async function numberOf(ask: Ask, id: string): Promise<number | null> {
  const [row] = await ask<{ seq: number }>(`select seq from dropcast.file where id = $1 and ${isSettled}`, [id]);
  if (row !== undefined && row.seq > mostNumber)
    throw new Error(`row ${row.seq}: pg-boss takes numbers up to ${mostNumber}`);
  return row?.seq ?? null;
}

/**
 * Interval in milliseconds at which a host without the turn requests it, and the host with the turn checks whether it
 * may keep it.
 */
const everyMs = 2_000;

/** Query for whether the turn is free. It writes nothing, because most requests are in vain. */
const isFree = `select 1 where ${isSettled} and not exists (
  select from ${jobSchema}.job where name = 'turn' and singleton_key = 'rounds' and state = 'active')`;

interface TurnsOptions extends HeldJobsOptions {
  readonly pool: Pick<PostgresPool, 'rows' | 'transaction'>;
  /** Whether this host accepts work: not while it is draining or stopping. */
  mayTake(): boolean;
  /** Called when this host gets the turn. */
  won(): void;
  /** Called when the query failed, usually because the database is unreachable. */
  broke(error: unknown): void;
}

export interface Turns extends Turn, AsyncDisposable {
  /** Checks now, for example after the host was drained. */
  look(): Promise<void>;
}

/**
 * Manages the one turn of a fleet. A host keeps the turn as long as it runs and accepts work; then another host gets
 * it.
 */
export function createTurns(options: TurnsOptions): Turns {
  const jobs = new HeldJobs(options);
  let turn: HeldJob | null = null;
  let looking: Promise<void> | null = null;
  /** Aborted when the turn ends, even if this host gave it up itself, which no lease reports. */
  let end = new AbortController();

  const take = async (): Promise<void> => {
    if ((await options.pool.rows(isFree)).length === 0) return;
    turn = await jobs.take('rounds', async (ask) => ((await ask(isFree)).length > 0 ? 0 : null));
    if (turn === null) return;
    const given = (end = new AbortController());
    turn.lost.addEventListener('abort', () => given.abort(), { once: true });
    options.won();
  };

  const giveAway = async (): Promise<void> => {
    const given = turn;
    turn = null;
    end.abort();
    await given?.release();
  };

  const lookOnce = async (): Promise<void> => {
    if (turn?.lost.aborted === true) turn = null;
    if (!options.mayTake()) await giveAway();
    else if (turn === null) await take();
  };

  const look = (): Promise<void> =>
    (looking ??= lookOnce()
      .catch(options.broke)
      .finally(() => (looking = null)));

  const timer = setInterval(() => void look(), everyMs).unref();
  return {
    signal: () => (turn === null || end.signal.aborted ? null : end.signal),
    look,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await looking;
      await giveAway();
      await jobs[Symbol.asyncDispose]();
    },
  };
}
