import { besideOthers } from '../host/budget-store.ts';
import type { BudgetNow, BudgetStore, OwnWindow, Sharing, StoredBudget } from '../host/budget-store.ts';
import { closedUntil, emptyWindow, merged, minuteMs, minuteOf } from '../host/budget-window.ts';
import type { BudgetWindow } from '../host/budget-window.ts';
import type { Ask } from './host-table.ts';
import { notifyOf } from './postgres/connection.ts';

/** Table with a single row, which the gates of all hosts write. */
export const budgetTable = `
  CREATE TABLE IF NOT EXISTS dropcast.budget (
    id integer PRIMARY KEY CHECK (id = 1),
    spent text NOT NULL,
    rev bigint NOT NULL
  )`;

/**
 * The stored window, with the budget's time at the last write and how far that time is ahead of the database's clock.
 */
interface Spent extends OwnWindow {
  readonly shiftMs?: number;
}

const answer = 'spent, rev, extract(epoch FROM clock_timestamp()) * 1000 AS now';

const read = `SELECT ${answer} FROM dropcast.budget WHERE id = 1`;

const begin = `INSERT INTO dropcast.budget (id, spent, rev) VALUES (1, $1, 0) ON CONFLICT (id) DO NOTHING`;

/**
 * Replaces the window of one revision, but only in the minute that the window is for: a host delayed since its decision
 * is too late. The new revision exceeds every revision that the host has seen, so that hosts notice if the database
 * lost its last writes. A block is signalled to the other hosts immediately.
 */
const swap = `
WITH swapped AS (
  UPDATE dropcast.budget SET spent = $2, rev = greatest(rev, $3::bigint) + 1
  WHERE id = 1 AND rev = $1::bigint
    AND floor((extract(epoch FROM clock_timestamp()) * 1000 + $4::bigint) / ${minuteMs}) = $5::bigint
  RETURNING rev, CASE WHEN $6::boolean THEN ${notifyOf('budget')} END
)
SELECT (SELECT rev FROM swapped) AS swapped, ${answer} FROM dropcast.budget WHERE id = 1`;

/**
 * Creates the budget that all hosts of a fleet share: one row in PostgreSQL. A host replaces the window that it has
 * read, unless another host did so first. Times are on the database's clock.
 *
 * @param elapsed monotonic clock of this process, in milliseconds
 */
export function sharedBudget(ask: Ask, elapsed: () => number, sharing: Sharing = besideOthers()): BudgetStore {
  return new SharedBudget(ask, elapsed, sharing);
}

/** Reads the budget without spending any of it. @returns null if nothing was stored yet */
export async function readSharedBudget(ask: Ask, elapsed: () => number): Promise<BudgetNow | null> {
  const budget = new SharedBudget(ask, elapsed, besideOthers());
  const stored = await budget.look();
  return stored && { window: stored.window, now: budget.now() };
}

class SharedBudget implements BudgetStore {
  readonly #ask: Ask;
  readonly #elapsed: () => number;
  readonly sharing: Sharing;
  #moment: BudgetMoment | null = null;
  #last: StoredBudget = { window: emptyWindow, revision: -1 };

  constructor(ask: Ask, elapsed: () => number, sharing: Sharing) {
    this.#ask = ask;
    this.#elapsed = elapsed;
    this.sharing = sharing;
  }

  now(): number {
    return this.#moment === null ? 0 : this.#moment.timeMs + this.#elapsed() - this.#moment.elapsedMs;
  }

  async look(): Promise<StoredBudget | null> {
    const askedAt = this.#elapsed();
    const [row] = await this.#ask(read, []);
    return row === undefined ? null : this.#learn(row, askedAt);
  }

  async load(): Promise<StoredBudget> {
    const stored = await this.look();
    if (stored !== null) return stored;
    await this.#ask(begin, [JSON.stringify(emptyWindow)]);
    return this.load();
  }

  async swap(
    from: StoredBudget,
    window: BudgetWindow,
  ): Promise<{ readonly isOurs: boolean; readonly stored: StoredBudget }> {
    const askedAt = this.#elapsed();
    const writtenAt = this.now();
    const shiftMs = this.#moment?.shiftMs ?? 0;
    const spent: Spent = { ...window, writtenAt: Math.floor(writtenAt), shiftMs };
    const isBlocked = closedUntil(window, writtenAt) > closedUntil(from.window, writtenAt);
    const [row] = await this.#ask(swap, [
      from.revision,
      JSON.stringify(spent),
      this.#last.revision,
      shiftMs,
      minuteOf(writtenAt),
      isBlocked,
    ]);
    if (row === undefined) return { isOurs: false, stored: await this.load() };
    if (row['swapped'] === null) return { isOurs: false, stored: this.#learn(row, askedAt) };
    // The answer's other columns show the row at the start of the statement.
    const stored = this.#learn({ ...row, spent: JSON.stringify(spent), rev: row['swapped'] }, askedAt);
    return { isOurs: true, stored };
  }

  #learn(row: Readonly<Record<string, unknown>>, askedAt: number): StoredBudget {
    const spent = readSpent(row['spent']);
    // The uptime is dropped: it is that of the host whose ledger was copied here.
    const { writtenAt = 0, shiftMs = 0, upMs: _, ...window } = spent;
    const heardAt = this.#elapsed();
    this.#moment = momentOf(this.#moment, { askedAt, heardAt, databaseMs: Number(row['now']), shiftMs, writtenAt });
    const stored = { window, revision: Number(row['rev']) };
    // If the database lost its last writes, this host's memory of them still counts.
    const isOlder = stored.revision < this.#last.revision;
    if (!isOlder) this.#last = stored;
    return isOlder ? { ...stored, window: merged(stored.window, this.#last.window) } : stored;
  }
}

/**
 * Parses a stored window. A damaged row counts as empty; a 429 from the service then shows that the hour is used up.
 */
function readSpent(text: unknown): Spent {
  try {
    return { ...emptyWindow, ...(JSON.parse(String(text)) as Spent) };
  } catch {
    return emptyWindow;
  }
}

/** A point in the budget's time, as known to this host. */
interface BudgetMoment {
  /** The budget's time, in epoch milliseconds. */
  readonly timeMs: number;
  /** The same moment on this process's monotonic clock, in milliseconds. */
  readonly elapsedMs: number;
  /** How far the budget's time is ahead of the database's clock, in milliseconds. */
  readonly shiftMs: number;
}

/** Times in an answer from the database. */
interface TimeHeard {
  /** When the query was sent and when the answer arrived, on this process's monotonic clock. */
  readonly askedAt: number;
  readonly heardAt: number;
  /** The database's clock at a moment in between, in epoch milliseconds. */
  readonly databaseMs: number;
  /** The shift that was stored with the budget. */
  readonly shiftMs: number;
  /** The budget's time at its last write. */
  readonly writtenAt: number;
}

/**
 * Difference above which a clock counts as set or replaced, in milliseconds. Smaller differences are ordinary clock
 * corrections.
 */
const noticedMs = 1_000;
/** Upper bound on the relative drift between monotonic clocks. */
const drift = 0.001;

/**
 * Returns the budget's current time: the database's time, advanced by this host's monotonic clock. If the database's
 * clock is set, or another machine becomes the database, the shift absorbs the jump. A host without an earlier answer
 * trusts the database, but time never goes back before the last write. Pure.
 *
 * @param known null: no answer so far
 */
export function momentOf(known: BudgetMoment | null, heard: TimeHeard): BudgetMoment {
  const { askedAt, heardAt, databaseMs, shiftMs, writtenAt } = heard;
  const earliest = databaseMs + shiftMs;
  const latest = earliest + heardAt - askedAt;
  const passed = known === null ? 0 : heardAt - known.elapsedMs;
  const expected = Math.max(writtenAt, known === null ? 0 : known.timeMs + passed);
  const noticed = noticedMs + passed * drift;
  const isAhead = known !== null && earliest > expected + noticed;
  const isBehind = latest < expected - noticed;
  if (isAhead || isBehind) {
    const jump = expected - (isAhead ? earliest : latest);
    return { timeMs: expected, elapsedMs: heardAt, shiftMs: Math.round(shiftMs + jump) };
  }
  const timeMs = known === null ? latest : Math.min(Math.max(expected, earliest), latest);
  return { timeMs: Math.max(timeMs, writtenAt), elapsedMs: heardAt, shiftMs };
}
