import { isSettled } from './postgres/failover.ts';
import type { PostgresPool } from './postgres/pool.ts';
import type { Turn } from '../pipeline/file/ports.ts';
import { jobSchema } from './job-queue.ts';
import { HeldJobs } from './held-jobs.ts';
import type { HeldJob, HeldJobsOptions } from './held-jobs.ts';

/** How often a host that has no turn asks for it, and one that has it looks whether it may keep it. */
const everyMs = 2_000;

/** Most hosts ask most of the time in vain: this reads, and writes nothing. */
const isFree = `select 1 where ${isSettled} and not exists (
  select from ${jobSchema}.job where name = 'turn' and singleton_key = 'rounds' and state = 'active')`;

export interface TurnsOptions extends HeldJobsOptions {
  readonly pool: Pick<PostgresPool, 'rows' | 'transaction'>;
  /** Whether this host takes up work: not while it is drained, or stops. */
  mayTake(): boolean;
  /** The turn has come here. */
  won(): void;
  /** It cannot be asked for: mostly the database is away. */
  broke(error: unknown): void;
}

export interface Turns extends Turn, AsyncDisposable {
  /** Looks now, as when the host is drained. */
  look(): Promise<void>;
}

/** The one turn of a fleet. A host keeps it as long as it lives and takes up work; then another gets it. */
export function createTurns(options: TurnsOptions): Turns {
  const jobs = new HeldJobs(options);
  let turn: HeldJob | null = null;
  let looking: Promise<void> | null = null;
  /** Of what is given away by ourselves, which no lease says. */
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
