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

export type Rows = ReturnType<typeof createRows>;

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
}) {
  const { store, events } = world;
  const held = new Map<string, Promise<unknown>>();

  const work = async <T>(id: string, task: (row: Row) => Promise<T>): Promise<T | null> => {
    const claim = await store.claim(id);
    if (claim === null) return null;
    try {
      return await task(heldRow(claim, store, events));
    } finally {
      await claim.release();
    }
  };

  return {
    /**
     * Claims a row, works on it and releases it, even if the work throws.
     *
     * @returns the result of the work; null when another worker holds the row or it does not exist
     */
    claim: async <T>(id: string, task: (row: Row) => Promise<T>): Promise<T | null> => {
      if (held.has(id)) return null;
      const done = work(id, task).finally(() => held.delete(id));
      held.set(id, done);
      return done;
    },
    isHeld: (id: string): boolean => held.has(id),
    held: (): readonly string[] => [...held.keys()],
    insert: async (facts: Facts, instead?: string): Promise<void> => {
      await store.insert(facts, instead);
      events.emit({ type: 'file', before: null, facts, note: facts.why });
    },
    /** Resolves when this row has been released or, without an id, when every row held now has been. */
    released: async (id?: string): Promise<void> => {
      await Promise.allSettled([...held].filter(([one]) => one === (id ?? one)).map(([, done]) => done));
    },
  };
}

function heldRow(claim: Claim, store: Pick<FileStore, 'save'>, events: Events): Row {
  const { lost } = claim;
  let { facts } = claim;
  let writing: Promise<unknown> = Promise.resolve();
  const requireClaim = (): void => {
    if (lost.aborted) throw lostClaim(facts);
  };
  const write = async (change: Partial<Facts>, note: string | undefined): Promise<Facts> => {
    const before = facts;
    // The caller may pass whole facts. Their revision is ignored; only the ledger's revision shows whether another
    // worker wrote.
    const wanted = { ...before, ...change, rev: before.rev };
    if (isSame(before, wanted, change)) return before;
    requireClaim();
    facts = await store.save(wanted, note);
    events.emit({ type: 'file', before, facts, note: note ?? null });
    return facts;
  };
  return {
    get facts() {
      return facts;
    },
    lost,
    sends: () => claim.sends(),
    // One write after the other, because each builds on the revision of the one before.
    write: (change, note) => {
      const written = writing.then(() => write(change, note));
      writing = written.catch(() => undefined);
      return written;
    },
    confirm: async () => {
      requireClaim();
      // The claim may have been lost while the answer was in transit.
      if (!(await claim.renew())) throw lostClaim(facts);
      requireClaim();
    },
  };
}

function lostClaim({ id }: Facts): LostClaimError {
  return new LostClaimError(`file ${id} is held by another worker`);
}

/** Whether a change is empty. Only the members of the change can differ. */
function isSame(one: Facts, other: Facts, change: Partial<Facts>): boolean {
  const names = Object.keys(change) as (keyof Facts)[];
  return names.every((name) => one[name] === other[name] || JSON.stringify(one[name]) === JSON.stringify(other[name]));
}
