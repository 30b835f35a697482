import { isSettled } from './postgres/failover.ts';
import type { PostgresPool } from './postgres/pool.ts';
import type { Turn } from '../pipeline/file/ports.ts';
import { jobSchema } from './job-queue.ts';
import { HeldJobs } from './held-jobs.ts';
import type { HeldJob, HeldJobsOptions } from './held-jobs.ts';

/**
 * Interval in milliseconds at which a host without the turn requests it, and the host with the turn checks whether it
 * may keep it.
 */
const everyMs = 2_000;

/** Query for whether the turn is free. It writes nothing, because most requests are in vain. */
const isFree = `select 1 where ${isSettled} and not exists (
  select from ${jobSchema}.job where name = 'turn' and singleton_key = 'rounds' and state = 'active')`;

export interface TurnsOptions extends HeldJobsOptions {
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
