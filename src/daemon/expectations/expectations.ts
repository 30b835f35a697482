import type { Config, Expectation } from '../../config/config.ts';
import type { ExpectedRows } from '../../ledger/records.ts';
import type { Logger } from '../../log/logger.ts';
import type { ExpectationState, ExpectationView } from '../../pipeline/expectation.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';
import { isGivenUp } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import { compileMatch } from '../../routing/match.ts';
import type { EventStream } from '../events.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import { expectationWords, lateWhy } from '../../view/words/picture-words.ts';
import type { NewsLines } from '../news/lines.ts';
import type { createDeadlines, DeadlinesWorld } from './deadlines.ts';
import { type Day, dayIn, dayName, momentIn, plusDays, weekday } from '../../pipeline/zoned-time.ts';

export type Expectations = ReturnType<typeof createExpectations>;

export interface ExpectationsWorld {
  readonly ledger: RowStore<'came in' | 'any'> & ExpectedRows;
  readonly events: Pick<EventStream, 'listen'>;
  readonly config: () => Config;
  readonly logger: Logger;
  readonly now: () => number;
  /** See `earliestOf`. */
  readonly earliest: DeadlinesWorld['earliest'];
  /** Files that miss their `ready_by`. */
  readonly deadlines: ReturnType<typeof createDeadlines>;
  /** Called when expected files are missing, late or recovered. */
  readonly changed: (view: ExpectationView) => void;
}

const everyMs = 5_000;

/** Files of one expectation whose times are estimated; of more, lateness is known when the time has come. */
const mostEstimated = 200;

/** Maximum number of files remembered per day. A higher limit would not change any result. */
const mostCounted = 20_000;

/** A clock set back by no more than this does not restart the previous day, which would be reported twice. */
const setBackMs = 3_600_000;

/** How long moved files stay recorded. Older days no longer count. */
const forgottenAfterMs = 10 * 24 * 3_600_000;

interface Watched {
  readonly key: string;
  readonly folder: string;
  readonly expectation: Expectation;
  matches(path: string): boolean;
  period: Period | null;
  told: ExpectationState | null;
  /** Why the files cannot all be live in time; null: they may be. */
  why: string | null;
  readonly files: Map<string, Counted>;
  /** File changes seen while rows are being read; null otherwise. */
  meanwhile: Facts[] | null;
}

/** Tracks whether the files that folders expect have arrived. Makes no requests to the service. */
export function createExpectations(world: ExpectationsWorld) {
  const { ledger, config, now, logger } = world;
  let folders: Config['folders'] | null = null;
  let watched: readonly Watched[] = [];
  let running: Promise<void> | null = null;

  const begin = async (each: Watched, period: Period): Promise<void> => {
    const meanwhile: Facts[] = (each.meanwhile = []);
    try {
      const came = await ledger.rows({ group: 'came in', folder: each.folder, since: period.from });
      const ids = await ledger.countedFiles(each.key, period.from);
      const moved = await ledger.rows({ group: 'any', where: { ids } });
      // Files that arrived while the clock was ahead would otherwise count for every day until then.
      const latest = now() + setBackMs;
      const isPast = ({ discoveredAt }: Facts): boolean => discoveredAt <= latest;
      // The previous day was shown, with its files, until now.
      each.files.clear();
      each.period = period;
      each.told = null;
      each.why = null;
      const counted = [...came.filter(({ path }) => each.matches(path)), ...moved].filter(isPast);
      for (const facts of counted) note(each.files, facts);
      for (const facts of meanwhile) count(each, facts);
    } finally {
      each.meanwhile = null;
    }
    await ledger.forgetCounted(now(), forgottenAfterMs);
  };

  const refresh = async (): Promise<void> => {
    if (folders !== config().folders) {
      folders = config().folders;
      watched = adopted(watched, folders);
    }
    const at = now();
    for (const each of watched) {
      const { period } = each;
      const isCurrent = period !== null && at >= period.from - setBackMs && at < period.end;
      if (!isCurrent) await begin(each, periodAt(each.expectation, at));
      each.why ??= await whyLate(each, at);
      tell(each, at);
    }
    await world.deadlines.refresh();
  };

  /** Asks whether files that have arrived can still be live in time. */
  const whyLate = async ({ expectation, period, files }: Watched, at: number): Promise<string | null> => {
    const { until, count, graceMs } = expectation;
    const deadline = (period?.by ?? 0) + graceMs;
    const ids = [...files].flatMap(([id, { liveAt }]) => (liveAt === null ? [id] : []));
    const missing = count - (files.size - ids.length);
    if (until === 'arrived' || at > deadline || missing <= 0 || ids.length < missing || ids.length > mostEstimated)
      return null;
    const rows = await ledger.rows({ group: 'any', where: { ids } });
    const times = rows.flatMap((facts) => world.earliest([facts]).get(facts.id) ?? []);
    const last = times.toSorted((one, other) => one.inMs - other.inMs)[missing - 1];
    return last !== undefined && at + last.inMs > deadline ? lateWhy(last, at) : null;
  };

  const tell = (each: Watched, at: number): void => {
    const view = viewOf(each, at);
    if (view === null || view.state === each.told) return;
    // `recovered` is news only to readers who heard that files were missing or late.
    const isNews =
      view.state === 'missing' || view.state === 'late' || (view.state === 'recovered' && each.told !== null);
    each.told = view.state;
    if (isNews) world.changed(view);
  };

  const count = (each: Watched, facts: Facts): void => {
    const isKnown = each.files.has(facts.id);
    if (!isKnown && (facts.discoveredAt < (each.period?.from ?? Infinity) || !each.matches(facts.path))) return;
    note(each.files, facts);
    // A move changes the path, so the file can no longer be found by it.
    if (!isKnown && facts.afterReady.kind === 'move')
      ledger
        .countFile(each.key, facts.id, facts.discoveredAt)
        .catch((error: unknown) => logger.debug('Cannot save an expected file', { file: facts.id, err: error }));
  };

  const onEvent = (event: DropcastEvent): void => {
    if (event.type !== 'file' && event.type !== 'elsewhere') return;
    const { facts } = event;
    for (const each of watched) {
      if (each.folder !== facts.folder) continue;
      count(each, facts);
      each.meanwhile?.push(facts);
    }
  };

  const refreshOnce = (): Promise<void> =>
    (running ??= refresh()
      // The ledger currently refuses, for example because the disk is full.
      .catch((error: unknown) => logger.debug('Cannot read expectations', { err: error }))
      .finally(() => {
        running = null;
      }));
  const unlisten = world.events.listen(onEvent);
  const timer = setInterval(() => void refreshOnce(), everyMs);
  timer.unref();
  return {
    /** Expectations for today or the last expected day, without those not read yet in the first moments of a day. */
    list: (): readonly ExpectationView[] => [
      ...watched.flatMap((each) => viewOf(each, now()) ?? []),
      ...world.deadlines.list(),
    ],
    /** Starts periods that have begun, and reports changes. The daemon does so every few seconds. */
    refresh: refreshOnce,
    [Symbol.dispose]: (): void => {
      unlisten();
      clearInterval(timer);
    },
  };
}

/** Expectations that are unchanged keep their state. */
function adopted(before: readonly Watched[], folders: Config['folders']): readonly Watched[] {
  const known = new Map(before.map((each) => [each.key, each]));
  const all = folders.flatMap(({ path, expect = [] }) => expect.map((expectation) => newlyWatched(path, expectation)));
  return [...new Map(all.map((each) => [each.key, known.get(each.key) ?? each])).values()];
}

function newlyWatched(folder: string, expectation: Expectation): Watched {
  const { match, by, from, days, count, zone, until, graceMs } = expectation;
  const matches = compileMatch(match);
  return {
    key: JSON.stringify([folder, match, by, from, days, count, zone, until, graceMs]),
    folder,
    expectation,
    matches: (path) => matches(path) !== null,
    period: null,
    told: null,
    why: null,
    files: new Map(),
    meanwhile: null,
  };
}

function note(files: Map<string, Counted>, facts: Facts): void {
  if (isGivenUp(facts)) files.delete(facts.id);
  else if (files.size < mostCounted || files.has(facts.id))
    files.set(facts.id, { arrivedAt: facts.discoveredAt, liveAt: facts.end === 'done' ? facts.endedAt : null });
}

function viewOf({ key, folder, expectation, period, files, why }: Watched, now: number): ExpectationView | null {
  if (period === null) return null;
  const { match, count, until } = expectation;
  const counted = [...files.values()];
  const { day, from, by } = period;
  const live = counted.filter(({ liveAt }) => liveAt !== null).length;
  const is = verdict(expectation, period, counted, now);
  const isDoomed = why !== null && is === 'arrived';
  const state = isDoomed ? 'late' : is;
  return {
    key,
    folder,
    match,
    day,
    from,
    by,
    count,
    arrived: counted.length,
    live,
    until,
    state,
    why: isDoomed ? why : null,
  };
}

/** A file that counts towards an expectation. Times are epoch milliseconds. */
export interface Counted {
  readonly arrivedAt: number;
  /** Null: not live. */
  readonly liveAt: number | null;
}

/** Determines an expectation's state at `now` (epoch milliseconds). Pure. */
export function verdict(
  { count, until, graceMs }: Pick<Expectation, 'count' | 'until' | 'graceMs'>,
  { by }: Pick<Period, 'by'>,
  files: readonly Counted[],
  now: number,
): ExpectationState {
  const arrivedAt = nth(
    files.map((file) => file.arrivedAt),
    count,
  );
  const liveAt = nth(
    files.flatMap((file) => file.liveAt ?? []),
    count,
  );
  const metAt = until === 'live' ? liveAt : arrivedAt;
  const deadline = by + graceMs;
  if (metAt !== null && metAt <= deadline) return liveAt === null ? 'arrived' : 'live';
  if (now <= deadline) return arrivedAt === null ? 'expected' : 'arrived';
  if (metAt !== null) return 'recovered';
  return arrivedAt === null ? 'missing' : 'late';
}

/** Returns the nth earliest time; null if there are fewer. */
function nth(times: readonly number[], n: number): number | null {
  return times.toSorted((one, other) => one - other)[n - 1] ?? null;
}

/** Reports missing, late and recovered files in the log and as news. */
export function tellExpectation(world: {
  readonly news: Pick<NewsLines, 'add'>;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now'>;
}): (view: ExpectationView) => void {
  return (view) => {
    const { folder, match, day, state } = view;
    const text = `${match}: ${expectationWords(view, world.clock.now())}`;
    const level = state === 'recovered' ? 'info' : 'warn';
    world.logger[level](messages[state] ?? 'Expected files changed', { folder, match, day, state, why: text });
    world.news.add({ level, type: 'expectation', file: null, folder, path: null, state, text });
  };
}

const messages: Partial<Record<ExpectationView['state'], string>> = {
  missing: 'An expected file is missing',
  late: 'An expected file is late',
  recovered: 'An expected file arrived too late',
};

/** The period of one day on which files are expected. Times are epoch milliseconds. */
export interface Period {
  /** The day of `by`, for example `2026-11-22`. */
  readonly day: string;
  /** Files that arrive from this time on count for the period. */
  readonly from: number;
  readonly by: number;
  /** Files that arrive from this time on count for the next period. Late files may arrive until then. */
  readonly end: number;
}

/** Maximum number of days from one expected day to the next. */
const week = 7;

/**
 * Returns the latest period that has begun by `atMs` (epoch milliseconds). Almost every moment belongs to a period.
 * Pure.
 */
export function periodAt(expectation: Omit<Expectation, 'match'>, atMs: number): Period {
  const zone = expectation.zone ?? new Intl.DateTimeFormat('en').resolvedOptions().timeZone;
  const today = dayIn(zone, atMs);
  const days = Array.from({ length: 2 * week + 5 }, (_, n) => plusDays(today, n - week - 2));
  const expected = days.filter((day) => expectation.days.includes(weekday(day)));
  const begins = expected.map((day) => beginOf(expectation, zone, day));
  const current = Math.max(
    0,
    begins.findLastIndex((begin) => begin <= atMs),
  );
  const day = expected[current] ?? today;
  return {
    day: dayName(day),
    from: begins[current] ?? atMs,
    by: momentIn(zone, day, expectation.by),
    end: begins[current + 1] ?? Infinity,
  };
}

function beginOf({ from, by }: Omit<Expectation, 'match'>, zone: string, day: Day): number {
  return momentIn(zone, from < by ? day : plusDays(day, -1), from);
}
