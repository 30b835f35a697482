import type { Events } from '../events.ts';
import type { Facts } from './facts.ts';
import { StaleRowError } from './ports.ts';
import type { Claim, Claims, FileStore, IntakeStore } from './ports.ts';

/** A row that this worker holds: no other worker writes it until it is released. */
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
   * @throws {StaleRowError} another worker wrote the row @throws {LostClaimError} another worker holds it now
   */
  write(change: Partial<Facts>, note?: string): Promise<Facts>;
  /**
   * Proves that it is still held, at this moment and by what grants it: before something that must not happen twice.
   *
   * @throws {LostClaimError} the claim is lost @throws {LedgerUnavailableError} the ledger does not answer
   */
  confirm(): Promise<void>;
  /** Its upload begins: it goes on while the ledger is silent, up to its last part, which is confirmed. */
  sends(): void;
}

export interface Rows {
  /**
   * Takes a row, works on it, and gives it back, also when the work throws.
   *
   * @returns what the work returns; null when another worker holds the row or there is none
   */
  claim<T>(id: string, work: (row: Row) => Promise<T>): Promise<T | null>;
  /** Whether this process holds it. */
  isHeld(id: string): boolean;
  /** Ids of those that it holds. */
  held(): readonly string[];
  /** Adds the row of a file that came in. */
  insert: IntakeStore['insert'];
  /** Resolves when every row that is held now was given back, or this one. */
  released(id?: string): Promise<void>;
}

/** Thrown by `write` after the claim went to another worker. Nothing was written. */
export class LostClaimError extends Error {
  override readonly name = 'LostClaimError';
}

/** Another worker wrote the row, or may do so now. Nothing of ours was written, and nothing is wrong with the file. */
export function isTakenOver(error: unknown): boolean {
  return error instanceof StaleRowError || error instanceof LostClaimError;
}

/**
 * Who may write which row, and the one place that does.
 *
 * @param world.store rows and claims; every write checks the revision of the row
 * @param world.insert adds rows; the ledger groups them
 * @param world.events told of every write
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

  /** One after the other: each builds on the revision of the last. */
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
    // The answer may have come late.
    if (this.lost.aborted) throw lostClaim(this.#facts);
  }

  async #write(change: Partial<Facts>, note: string | undefined): Promise<Facts> {
    const before = this.#facts;
    // Whole facts may be given too. Their revision is not meant: only the ledger's tells whether another worker wrote.
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

/** Only what was to change can differ. */
function isSame(one: Facts, other: Facts, change: Partial<Facts>): boolean {
  const names = Object.keys(change) as (keyof Facts)[];
  return names.every((name) => one[name] === other[name] || JSON.stringify(one[name]) === JSON.stringify(other[name]));
}
