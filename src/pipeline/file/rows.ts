import type { Events } from '../events.ts';
import type { Facts } from './facts.ts';
import { StaleRowError } from './ports.ts';
import type { Claim, Claims, FileStore } from './ports.ts';

/** A row that this worker holds: nobody else writes it meanwhile. */
export interface Row {
  /** As it now is in the ledger. */
  readonly facts: Facts;
  /** Fires when the claim was lost to another worker: stop, and write nothing more. */
  readonly lost: AbortSignal;
  /**
   * The one way in which a row is written. On disk, and told to those who listen, when it resolves. A change that changes nothing
   * writes nothing.
   *
   * @param change the facts that differ, or whole facts made from `facts` with no wait in between: older ones bring old values back
   * @param note a line for the history of the file
   * @returns the facts as they now are
   * @throws {StaleRowError} somebody else wrote the row @throws {LostClaimError} somebody else holds it now
   */
  write(change: Partial<Facts>, note?: string): Promise<Facts>;
}

export interface Rows {
  /**
   * Takes a row, works on it, and gives it back, also when the work throws.
   *
   * @returns what the work returns; null when somebody else holds the row or there is none
   */
  claim<T>(id: string, work: (row: Row) => Promise<T>): Promise<T | null>;
  /** Whether this process holds it. */
  isHeld(id: string): boolean;
  /** Ids of those that it holds. */
  held(): readonly string[];
  /** Adds the row of a file that came in. */
  insert(facts: Facts): Promise<void>;
  /** Resolves when every row that is held now was given back, or this one. */
  released(id?: string): Promise<void>;
}

/** Thrown by `write` after the claim went to another worker. Nothing was written. */
export class LostClaimError extends Error {
  override readonly name = 'LostClaimError';
}

/** Somebody else wrote the row, or may do so now. Nothing of ours was written, and nothing is wrong with the file. */
export function isTakenOver(error: unknown): boolean {
  return error instanceof StaleRowError || error instanceof LostClaimError;
}

/** A ledger with leases must grant longer than this many renewals take. */
const renewalsUntilLost = 3;
const defaultRenewEveryMs = 5_000;

/**
 * Who may write which row, and the one place that does.
 *
 * @param world.store rows and claims; every write checks the revision of the row
 * @param world.insert adds rows; the ledger groups them
 * @param world.events told of every write
 * @param world.renewEveryMs how often a claim is renewed, in milliseconds; 5 s by default
 */
export function createRows(world: {
  readonly store: Pick<FileStore, 'save'> & Claims & { insert(facts: Facts): Promise<void> };
  readonly events: Events;
  readonly renewEveryMs?: number;
}): Rows {
  const { store, events, renewEveryMs = defaultRenewEveryMs } = world;
  const held = new Map<string, Promise<unknown>>();

  const work = async <T>(id: string, task: (row: Row) => Promise<T>): Promise<T | null> => {
    const claim = await store.claim(id);
    if (claim === null) return null;
    const lease = keepAlive(claim, renewEveryMs);
    try {
      return await task(new HeldRow(claim.facts, lease.lost, store, events));
    } finally {
      lease.end();
      await claim.release();
    }
  };

  return {
    claim: async (id, task) => {
      if (held.has(id)) return null;
      const done = work(id, task).finally(() => held.delete(id));
      held.set(id, done);
      return done;
    },
    isHeld: (id) => held.has(id),
    held: () => [...held.keys()],
    insert: async (facts) => {
      await store.insert(facts);
      events.emit({ type: 'file', before: null, facts, note: facts.why });
    },
    released: async (id) => {
      await Promise.allSettled([...held].filter(([one]) => one === (id ?? one)).map(([, done]) => done));
    },
  };
}

class HeldRow implements Row {
  readonly lost: AbortSignal;
  readonly #store: Pick<FileStore, 'save'>;
  readonly #events: Events;
  #facts: Facts;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(facts: Facts, lost: AbortSignal, store: Pick<FileStore, 'save'>, events: Events) {
    this.#facts = facts;
    this.lost = lost;
    this.#store = store;
    this.#events = events;
  }

  get facts(): Facts {
    return this.#facts;
  }

  /** One after the other: each builds on the revision of the last. */
  write(change: Partial<Facts>, note?: string): Promise<Facts> {
    const written = this.#writing.then(() => this.#write(change, note));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(change: Partial<Facts>, note: string | undefined): Promise<Facts> {
    const before = this.#facts;
    // Whole facts may be given too. Their revision is not meant: only the ledger's tells whether somebody else wrote.
    const wanted = { ...before, ...change, rev: before.rev };
    if (isSame(before, wanted, change)) return before;
    if (this.lost.aborted) throw new LostClaimError(`file ${before.id} is held by another worker`);
    this.#facts = await this.#store.save(wanted, note);
    this.#events.emit({ type: 'file', before, facts: this.#facts, note: note ?? null });
    return this.#facts;
  }
}

/** Renews a claim until its end. It counts as lost when the ledger says so, or has not answered for several renewals in a row. */
function keepAlive(claim: Claim, everyMs: number): { readonly lost: AbortSignal; end(): void } {
  const lost = new AbortController();
  let unanswered = 0;
  const timer = setInterval(() => {
    unanswered += 1;
    if (unanswered > renewalsUntilLost) lost.abort();
    claim.renew().then(
      (isOurs) => {
        unanswered = 0;
        if (!isOurs) lost.abort();
      },
      () => undefined,
    );
  }, everyMs).unref();
  return { lost: lost.signal, end: () => clearInterval(timer) };
}

/** Only what was to change can differ. */
function isSame(one: Facts, other: Facts, change: Partial<Facts>): boolean {
  const names = Object.keys(change) as (keyof Facts)[];
  return names.every((name) => one[name] === other[name] || JSON.stringify(one[name]) === JSON.stringify(other[name]));
}
