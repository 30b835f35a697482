import type { Events } from '../events.ts';
import type { Facts } from './facts.ts';
import { StaleRowError } from './ports.ts';
import type { Claim, Claims, FileStore, IntakeStore } from './ports.ts';

/** A row held by this worker. No other worker writes it until it is released. */
export interface Row {
  readonly facts: Facts;
  /** Fires when another worker has taken over the claim. Stop, and write nothing more. */
  readonly lost: AbortSignal;
  /**
   * Writes the row; there is no other way to do so. When it resolves, the change is on disk and listeners have been
   * notified. An empty change writes nothing.
   *
   * @param change the facts that differ, or whole facts derived from `facts` without an intervening `await`, since
   *   outdated facts would restore old values
   * @param note a line for the history of the file
   * @returns the facts after the write
   * @throws {StaleRowError} another worker wrote the row @throws {LostClaimError} another worker holds it now
   */
  write(change: Partial<Facts>, note?: string): Promise<Facts>;
  /**
   * Renews the claim to prove that the row is still held. Call this before an action that must not happen twice.
   *
   * @throws {LostClaimError} the claim is lost @throws {LedgerUnavailableError} the ledger does not answer
   */
  confirm(): Promise<void>;
  /**
   * Marks the start of an upload. The upload continues while the ledger does not respond, except for its last part,
   * which needs `confirm`.
   */
  sends(): void;
}

export interface Rows {
  /**
   * Claims a row, works on it and releases it, even if the work throws.
   *
   * @returns the result of the work; null when another worker holds the row or it does not exist
   */
  claim<T>(id: string, work: (row: Row) => Promise<T>): Promise<T | null>;
  isHeld(id: string): boolean;
  held(): readonly string[];
  insert: IntakeStore['insert'];
  /** Resolves when this row has been released or, without an id, when every row held now has been. */
  released(id?: string): Promise<void>;
}

/** Thrown by `write` when another worker has taken the claim. Nothing was written. */
export class LostClaimError extends Error {
  override readonly name = 'LostClaimError';
}

/**
 * Whether another worker wrote the row or may be about to. This process has written nothing, and the file itself is
 * fine.
 */
export function isTakenOver(error: unknown): boolean {
  return error instanceof StaleRowError || error instanceof LostClaimError;
}

/**
 * Decides who may write each row. All writes go through here.
 *
 * @param world.store rows and claims; every write checks the revision of the row
 * @param world.insert adds rows, which the ledger groups into transactions
 * @param world.events is notified of every write
 */
export function createRows(world: {
  readonly store: Pick<FileStore, 'save'> & Claims & Pick<IntakeStore, 'insert'>;
  readonly events: Events;
}): Rows {
  const { store, events } = world;
  const held = new Map<string, Promise<unknown>>();

  const work = async <T>(id: string, task: (row: Row) => Promise<T>): Promise<T | null> => {
    const claim = await store.claim(id);
    if (claim === null) return null;
    try {
      return await task(new HeldRow(claim, store, events));
    } finally {
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
    insert: async (facts, instead) => {
      await store.insert(facts, instead);
      events.emit({ type: 'file', before: null, facts, note: facts.why });
    },
    released: async (id) => {
      await Promise.allSettled([...held].filter(([one]) => one === (id ?? one)).map(([, done]) => done));
    },
  };
}

class HeldRow implements Row {
  readonly lost: AbortSignal;
  readonly #claim: Claim;
  readonly #store: Pick<FileStore, 'save'>;
  readonly #events: Events;
  #facts: Facts;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(claim: Claim, store: Pick<FileStore, 'save'>, events: Events) {
    this.#facts = claim.facts;
    this.lost = claim.lost;
    this.#claim = claim;
    this.#store = store;
    this.#events = events;
  }

  get facts(): Facts {
    return this.#facts;
  }

  /** Runs writes one after the other, because each builds on the revision of the one before. */
  write(change: Partial<Facts>, note?: string): Promise<Facts> {
    const written = this.#writing.then(() => this.#write(change, note));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  sends(): void {
    this.#claim.sends();
  }

  async confirm(): Promise<void> {
    if (this.lost.aborted || !(await this.#claim.renew())) throw lostClaim(this.#facts);
    // The claim may have been lost while the answer was in transit.
    if (this.lost.aborted) throw lostClaim(this.#facts);
  }

  async #write(change: Partial<Facts>, note: string | undefined): Promise<Facts> {
    const before = this.#facts;
    // The caller may pass whole facts. Their revision is ignored; only the ledger's revision shows whether another
    // worker wrote.
    const wanted = { ...before, ...change, rev: before.rev };
    if (isSame(before, wanted, change)) return before;
    if (this.lost.aborted) throw lostClaim(before);
    this.#facts = await this.#store.save(wanted, note);
    this.#events.emit({ type: 'file', before, facts: this.#facts, note: note ?? null });
    return this.#facts;
  }
}

function lostClaim({ id }: Facts): LostClaimError {
  return new LostClaimError(`file ${id} is held by another worker`);
}

/** Whether a change is empty. Only the members of the change can differ. */
function isSame(one: Facts, other: Facts, change: Partial<Facts>): boolean {
  const names = Object.keys(change) as (keyof Facts)[];
  return names.every((name) => one[name] === other[name] || JSON.stringify(one[name]) === JSON.stringify(other[name]));
}
