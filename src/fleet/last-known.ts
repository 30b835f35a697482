import type { Ledger } from '../ledger/ledger.ts';
import type { Fleet } from '../view/hosts/fleet-view.ts';
import type { Clock } from '../pipeline/file/ports.ts';
import { LedgerUnavailableError } from '../pipeline/file/store-errors.ts';
import { noAnswer } from '../view/words/unavailable-words.ts';

export interface LastKnownWorld {
  readonly clock: Pick<Clock, 'elapsed'>;
  /** Returns which database is not answering, since when, and why; null: it is answering. */
  whyAway(): string | null;
  /** Resolves after this many milliseconds. */
  rest(ms: number): Promise<void>;
}

/** Longest wait of a view for one answer, in milliseconds. */
const longestMs = 2_000;

/** How long calls skip waiting after a call got no answer, in milliseconds: the server may be frozen. */
const doubtMs = 5_000;

/** Limit on remembered answers; the most recent ones stay. */
const mostKept = 300;

/**
 * Calls made by views, each with a substitute for an answer that was never received. `null`: no substitute, so the call
 * fails.
 */
const views = {
  totals: null,
  waiting: null,
  find: null,
  load: null,
  before: new Map<string, number>(),
  lines: [],
  history: null,
  snapshot: null,
  counts: null,
  latestLines: [],
  latestPublished: {},
  pauses: [],
  unanswered: null,
  movedBy: [],
} as const satisfies Partial<Record<keyof Ledger, unknown>>;

const selectionViews = { page: null, facets: null } as const satisfies Partial<
  Record<keyof Ledger['selection'], unknown>
>;

/**
 * Wraps a ledger so that views get the last known answers while the database is unreachable, and never wait for long.
 * Calls that change something fail as usual.
 */
export function lastKnown(ledger: Ledger, world: LastKnownWorld): Ledger {
  const memory = new Memory(world);
  const { rows = ledger.rows } = memory.around(ledger, { rows: null });
  return {
    ...ledger,
    ...memory.around(ledger, views),
    // Only views read this group. Steps act on the other groups, so those must be current.
    rows: (wanted) => (wanted.group === 'abandoned' ? rows(wanted) : ledger.rows(wanted)),
    selection: { ...ledger.selection, ...memory.around(ledger.selection, selectionViews) },
  };
}

/** Wraps the fleet in the same way, because every list of files needs the host that last wrote each row. */
export function lastKnownHosts(fleet: Fleet, world: LastKnownWorld): Fleet {
  return {
    self: fleet.self,
    known: () => fleet.known(),
    hosts: () => fleet.hosts(),
    awaySince: () => fleet.awaySince(),
    whyAway: () => fleet.whyAway(),
    drain: (name, by) => fleet.drain(name, by),
    forget: (name) => fleet.forget(name),
    hostsOf: (ids) => fleet.hostsOf(ids),
    ...new Memory(world).around(
      { hostsOf: (ids: readonly string[]) => fleet.hostsOf(ids) },
      { hostsOf: new Map<string, string>() },
    ),
  };
}

type Call = (...args: readonly unknown[]) => Promise<unknown>;

class Memory {
  readonly #world: LastKnownWorld;
  readonly #kept = new Map<string, unknown>();
  #doubtUntil = 0;

  constructor(world: LastKnownWorld) {
    this.#world = world;
  }

  /** Wraps the port's calls that are listed in the table. */
  around<T extends object>(port: T, table: Readonly<Record<string, unknown>>): Partial<T> {
    const calls = Object.entries(table).map(([name, instead]): [string, Call] => {
      const call = port[name as keyof T] as Call;
      return [name, (...args) => this.#ask(keyOf(name, args), () => call(...args), instead)];
    });
    return Object.fromEntries(calls) as Partial<T>;
  }

  async #ask(key: string, call: () => Promise<unknown>, instead: unknown): Promise<unknown> {
    const { clock, whyAway } = this.#world;
    if (whyAway() !== null || clock.elapsed() < this.#doubtUntil) return this.#remembered(key, instead);
    const answer = await this.#inTime(call());
    if (answer === null) return this.#remembered(key, instead);
    this.#keep(key, answer.value);
    return answer.value;
  }

  /** Waits a limited time for an answer. @returns null if there was none */
  async #inTime(asked: Promise<unknown>): Promise<{ readonly value: unknown } | null> {
    try {
      const answer = await Promise.race([
        asked.then((value) => ({ value })),
        this.#world.rest(longestMs).then(() => null),
      ]);
      if (answer !== null) return answer;
      // The call may still fail after the wait.
      asked.catch(() => undefined);
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError) || error.reason !== 'away') throw error;
    }
    this.#doubtUntil = this.#world.clock.elapsed() + doubtMs;
    return null;
  }

  #remembered(key: string, instead: unknown): unknown {
    if (this.#kept.has(key)) return this.#kept.get(key);
    if (instead !== null) return instead;
    throw noAnswer(this.#world.whyAway());
  }

  #keep(key: string, value: unknown): void {
    this.#kept.delete(key);
    this.#kept.set(key, value);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/**
 * Returns the memory key of a call. Rows that steps are working on are omitted: they change all the time, but rarely
 * change the answer.
 */
function keyOf(name: string, args: readonly unknown[]): string {
  if (name === 'lines') return name;
  return `${name} ${JSON.stringify(args, (key, value: unknown) => (key === 'working' && Array.isArray(value) ? undefined : value))}`;
}
