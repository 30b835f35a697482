import type { Ask, PostgresPool } from './postgres/pool.ts';
import type { Clock } from '../pipeline/file/ports.ts';
import { LedgerUnavailableError } from '../pipeline/file/store-errors.ts';
import { heartbeatSeconds, longestJobMs } from './job-queue.ts';
import type { Grant, JobQueue } from './job-queue.ts';

/** How often a host confirms all its jobs with one heartbeat. */
const touchEveryMs = 2_500;

/** A host without a heartbeat for this long gives up, before another host may start. */
const silentMs = 0.8 * heartbeatSeconds * 1_000;

/** How often this is checked. After the process was suspended, the check runs before anything is sent. */
const lookEveryMs = 250;

/**
 * A job ends after a day, however often it was touched: before that it is given back and taken again, in one
 * transaction.
 */
const renewJobAfterMs = longestJobMs - 3_600_000;

/** How long the last part of an upload waits for the database. */
const confirmWithinMs = 60_000;
const confirmEveryMs = 500;

export interface HeldJobsOptions {
  readonly pool: Pick<PostgresPool, 'transaction'>;
  readonly queue: JobQueue;
  readonly clock: Pick<Clock, 'elapsed'>;
}

/** A job that this host holds. */
export interface HeldJob {
  /** Fires when the job went to another host, or may have. */
  readonly lost: AbortSignal;
  /**
   * Asks whether the job is still ours, and waits for a database that is away. From then on its silence counts, despite
   * `sends`.
   *
   * @throws {LedgerUnavailableError} the database stayed away
   */
  confirm(): Promise<boolean>;
  /** Until `confirm`, the silence of the database does not count. */
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

/** The jobs of one queue that this host holds, confirmed by one heartbeat. */
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

  /** @param numberIn reads the number of the job in the transaction that takes it; null: there is none */
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

  /** After an unknown outcome the job is not touched, so it expires. */
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
    // While the database is away, the job expires.
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
        // An answer may have arrived while this process was suspended.
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
      // The next heartbeat tries again; until then the silence counts.
    }
  }

  async #beat(those: readonly Held[]): Promise<void> {
    const askedAt = this.#options.clock.elapsed();
    const asked = those.map((held): [Held, Grant] => [held, held.grant]);
    const ours = await this.#options.queue.touch(asked.map(([, grant]) => grant));
    for (const [held, grant] of asked) {
      // It holds another job since then.
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
    // It was given back in the meantime, and no other code would complete the new job.
    if (!this.#has(held)) await queue.complete(grant);
  }

  /** Another host may start after this one was silent for long: everything that requires the job stops here. */
  #look(): void {
    const now = this.#options.clock.elapsed();
    for (const held of this.#held.values()) if (!held.isSilenceFine && now - held.beatAt > silentMs) this.#lose(held);
  }

  #lose(held: Held): void {
    this.#held.delete(held.key);
    held.lost.abort();
  }
}
