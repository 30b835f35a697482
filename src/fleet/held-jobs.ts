import type { Ask, PostgresPool } from './postgres/pool.ts';
import type { Clock } from '../pipeline/file/ports.ts';
import { LedgerUnavailableError } from '../pipeline/file/store-errors.ts';
import { heartbeatSeconds, longestJobMs } from './job-queue.ts';
import type { Grant, JobQueue } from './job-queue.ts';

/** Heartbeat interval in milliseconds. One heartbeat confirms all jobs of this host. */
const touchEveryMs = 2_500;

/**
 * Time without a heartbeat after which this host gives up its jobs, in milliseconds. It gives up before another host
 * may start.
 */
const silentMs = 0.8 * heartbeatSeconds * 1_000;

/**
 * Interval between checks for missed heartbeats, in milliseconds. After the process was suspended, the check runs
 * before anything is sent.
 */
const lookEveryMs = 250;

/**
 * Age at which a job is completed and taken again in one transaction, in milliseconds. Heartbeats do not keep a job
 * alive for more than a day.
 */
const renewJobAfterMs = longestJobMs - 3_600_000;

/** How long the last part of an upload waits for the database, in milliseconds. */
const confirmWithinMs = 60_000;
const confirmEveryMs = 500;

export interface HeldJobsOptions {
  readonly pool: Pick<PostgresPool, 'transaction'>;
  readonly queue: JobQueue;
  readonly clock: Pick<Clock, 'elapsed'>;
}

/** A job that this host holds. */
export interface HeldJob {
  /** Aborted when another host has, or may have, the job. */
  readonly lost: AbortSignal;
  /**
   * Checks whether this host still has the job, and waits if the database is unreachable. From then on the database's
   * silence counts again, despite `sends`.
   *
   * @throws {LedgerUnavailableError} if the database stayed unreachable
   */
  confirm(): Promise<boolean>;
  /** Ignores the database's silence until `confirm` is called. */
  sends(): void;
  release(): Promise<void>;
}

interface Held {
  readonly key: string;
  readonly number: number;
  readonly lost: AbortController;
  grant: Grant;
  /** When the last successful heartbeat was requested, on the monotonic clock. */
  beatAt: number;
  jobSince: number;
  isSilenceFine: boolean;
}

/** The jobs in one queue that this host holds, all confirmed by one heartbeat. */
export class HeldJobs implements AsyncDisposable {
  readonly #options: HeldJobsOptions;
  readonly #held = new Map<string, Held>();
  readonly #taking = new Set<string>();
  readonly #timers: readonly NodeJS.Timeout[];
  #touching: Promise<void> | null = null;

  constructor(options: HeldJobsOptions) {
    this.#options = options;
    this.#timers = [
      setInterval(() => this.#touch(), touchEveryMs).unref(),
      setInterval(() => this.#look(), lookEveryMs).unref(),
    ];
  }

  /**
   * Takes a job if it is free.
   *
   * @param numberIn reads the job's number in the transaction that takes the job; null: there is no such job
   */
  async take(key: string, numberIn: (ask: Ask) => Promise<number | null>): Promise<HeldJob | null> {
    if (this.#held.has(key) || this.#taking.has(key)) return null;
    this.#taking.add(key);
    try {
      const held = await this.#granted(key, numberIn);
      if (held === null) return null;
      this.#held.set(key, held);
      return {
        lost: held.lost.signal,
        confirm: () => this.#confirm(held),
        sends: () => void (held.isSilenceFine = true),
        release: () => this.#release(held),
      };
    } finally {
      this.#taking.delete(key);
    }
  }

  grantOf(key: string): Grant | null {
    return this.#held.get(key)?.grant ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#touching;
    const held = [...this.#held.values()];
    for (const each of held) this.#lose(each);
    await Promise.all(held.map(({ grant }) => this.#options.queue.complete(grant).catch(() => undefined)));
  }

  /** Takes the job. If the outcome is unknown, the job gets no heartbeats, so it expires. */
  async #granted(key: string, numberIn: (ask: Ask) => Promise<number | null>): Promise<Held | null> {
    const { pool, queue, clock } = this.#options;
    const askedAt = clock.elapsed();
    return pool.transaction(async (ask) => {
      const number = await numberIn(ask);
      const grant = number === null ? null : await queue.take(ask, key, number);
      if (number === null || grant === null) return null;
      const lost = new AbortController();
      return { key, number, lost, grant, beatAt: askedAt, jobSince: askedAt, isSilenceFine: false };
    });
  }

  async #release(held: Held): Promise<void> {
    if (!this.#has(held)) return;
    this.#held.delete(held.key);
    // If the database is unreachable, the job expires.
    await this.#options.queue.complete(held.grant).catch(() => undefined);
  }

  async #confirm(held: Held): Promise<boolean> {
    const { clock } = this.#options;
    const until = clock.elapsed() + confirmWithinMs;
    while (this.#has(held)) {
      try {
        const { grant } = held;
        await this.#beat([held]);
        held.isSilenceFine = false;
        // The process may have been suspended since the answer arrived.
        this.#look();
        if (held.grant === grant) break;
      } catch (error) {
        if (!(error instanceof LedgerUnavailableError) || clock.elapsed() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, confirmEveryMs).unref());
      }
    }
    return this.#has(held);
  }

  #has(held: Held): boolean {
    return this.#held.get(held.key) === held;
  }

  #touch(): void {
    if (this.#held.size === 0) return;
    this.#touching ??= this.#touchAll().finally(() => (this.#touching = null));
  }

  async #touchAll(): Promise<void> {
    try {
      await this.#beat([...this.#held.values()]);
      const { elapsed } = this.#options.clock;
      const old = [...this.#held.values()].filter(({ jobSince }) => elapsed() - jobSince > renewJobAfterMs);
      for (const held of old) await this.#renewJob(held);
    } catch {
      // The next heartbeat retries; until then the silence counts.
    }
  }

  async #beat(those: readonly Held[]): Promise<void> {
    const askedAt = this.#options.clock.elapsed();
    const asked = those.map((held): [Held, Grant] => [held, held.grant]);
    const ours = await this.#options.queue.touch(asked.map(([, grant]) => grant));
    for (const [held, grant] of asked) {
      // The job was renewed in the meantime.
      if (held.grant !== grant) continue;
      if (ours.has(grant.job)) held.beatAt = Math.max(held.beatAt, askedAt);
      else if (this.#has(held)) this.#lose(held);
    }
  }

  async #renewJob(held: Held): Promise<void> {
    const { pool, queue, clock } = this.#options;
    const askedAt = clock.elapsed();
    const grant = await pool.transaction(async (ask) => {
      await queue.complete(held.grant, ask);
      return queue.take(ask, held.key, held.number);
    });
    if (grant === null) return this.#lose(held);
    held.grant = grant;
    held.beatAt = askedAt;
    held.jobSince = askedAt;
    // The key was released in the meantime, so no other code would complete the new job.
    if (!this.#has(held)) await queue.complete(grant);
  }

  /** Gives up jobs without a recent heartbeat, because another host may take them over. */
  #look(): void {
    const now = this.#options.clock.elapsed();
    for (const held of this.#held.values()) if (!held.isSilenceFine && now - held.beatAt > silentMs) this.#lose(held);
  }

  #lose(held: Held): void {
    this.#held.delete(held.key);
    held.lost.abort();
  }
}
