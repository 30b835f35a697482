/** A moment of the budget's time, as this host knows it. */
export interface BudgetMoment {
  /** Epoch milliseconds. */
  readonly timeMs: number;
  /** By the clock of this process that never jumps. */
  readonly elapsedMs: number;
  /** What the budget's time has over the clock of the database. */
  readonly shiftMs: number;
}

/** What an answer of the database says about the time. */
export interface TimeHeard {
  /** When the question left and when the answer came, by the clock of this process that never jumps. */
  readonly askedAt: number;
  readonly heardAt: number;
  /** The clock of the database between the two, in epoch milliseconds. */
  readonly databaseMs: number;
  /** The shift that was stored with the budget. */
  readonly shiftMs: number;
  /** The budget's time when it was last written. */
  readonly writtenAt: number;
}

/** Less is a clock that is being corrected; more is one that was set, or the clock of another machine. */
const noticedMs = 1_000;
/** Clocks that nobody sets differ by less than a thousandth. */
const drift = 0.001;

/**
 * Pure: the time of the budget is the database's, and goes on as the clocks of the hosts say that nobody sets: when the clock of the database
 * is set, or another machine becomes the database, the shift takes the jump up. A host that has heard nothing yet believes the
 * database, but that the time never goes back behind what was written.
 *
 * @param known null: nothing was heard yet
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
