import type { Bandwidth } from '@dropcast/client';
import { limitAt, limitChangesAt } from '../config/bandwidth-hours.ts';
import type { Config, QuotaConfig } from '../config/config.ts';
import { isInWindow, nextMinute } from '../config/day-window.ts';
import type { QuotaNow, QuotaPeriod } from '../pipeline/quota.ts';
import type { UploadHours } from '../pipeline/sending-time.ts';
import type { Clock } from '../pipeline/file/ports.ts';
import { type Day, dayIn, momentIn, plusDays } from '../pipeline/zoned-time.ts';

/** Upload limits that depend on the time of day. Times are epoch milliseconds. */
export interface UploadTimes {
  /** Bytes per second shared by all uploads; null: unlimited. */
  limit(): number | null;
  /** When the next limit takes effect; null: never. */
  limitUntil(): number | null;
  mayStart(): boolean;
  /** When uploads may start again; null: now. */
  startAt(): number | null;
  /** Limit changes within the next two days. */
  later(): readonly UploadHours[];
}

/** @param uploads returns the current upload settings */
export function uploadTimes(uploads: () => Config['uploads'], clock: Clock): UploadTimes {
  const mayStart = (): boolean => {
    const { window } = uploads();
    return window === null || isInWindow(window, clock.now());
  };
  const next = oncePerMinute(clock, ({ window }) =>
    window === null ? null : nextMinute(clock.now(), (each) => isInWindow(window, each)),
  );
  const changes = oncePerMinute(clock, (configured) => changesFrom(configured, clock.now()));
  return {
    limit: () => limitAt(uploads().bandwidth, clock.now()),
    limitUntil: () => limitChangesAt(uploads().bandwidth, clock.now()),
    mayStart,
    startAt: () => (mayStart() ? null : next(uploads())),
    later: () => changes(uploads()).map(({ at, ...hours }) => ({ ...hours, inMs: Math.max(0, at - clock.now()) })),
  };
}

/**
 * Caches the result for a minute. Each of 100,000 waiting files may ask for it, and computing it takes up to several
 * milliseconds.
 */
function oncePerMinute<T>(clock: Clock, find: (uploads: Config['uploads']) => T): (uploads: Config['uploads']) => T {
  let found: { readonly uploads: Config['uploads']; readonly minute: number; readonly value: T } | null = null;
  return (uploads) => {
    const minute = Math.floor(clock.now() / minuteMs);
    if (found?.uploads !== uploads || found.minute !== minute) found = { uploads, minute, value: find(uploads) };
    return found.value;
  };
}

type Change = Omit<UploadHours, 'inMs'> & { readonly at: number };

/** Returns the limit changes in the two days after `nowMs`. Tries every minute, because only the local clock accounts for daylight saving. */
function changesFrom({ bandwidth, window }: Config['uploads'], nowMs: number): readonly Change[] {
  if (bandwidth.windows.length === 0 && window === null) return [];
  const hoursAt = (at: number): Change => ({
    at,
    bandwidth: limitAt(bandwidth, at),
    mayStart: window === null || isInWindow(window, at),
  });
  const changes = [hoursAt(nowMs)];
  const first = Math.floor(nowMs / minuteMs) + 1;
  for (let minute = first; minute <= first + twoDays; minute += 1) {
    const next = hoursAt(minute * minuteMs);
    const last = changes.at(-1);
    if (last?.bandwidth !== next.bandwidth || last.mayStart !== next.mayStart) changes.push(next);
  }
  return changes.slice(1);
}

/** Two days in minutes. */
const twoDays = 2 * 24 * 60;

const minuteMs = 60_000;

/**
 * Sets the limit at each full minute, when limits can change. After a clock change it is correct within a minute.
 *
 * @returns `update` applies a changed configuration immediately
 */
export function keepLimit(
  bandwidth: Bandwidth,
  times: Pick<UploadTimes, 'limit'>,
  clock: Clock,
): Disposable & { update(): void } {
  let set = times.limit();
  bandwidth.set(set);
  const update = (): void => {
    const limit = times.limit();
    if (limit !== set) bandwidth.set(limit);
    set = limit;
  };
  const look = (): NodeJS.Timeout => {
    const untilFullMs = minuteMs - (clock.now() % minuteMs);
    return setTimeout(() => {
      update();
      timer = look();
    }, untilFullMs).unref();
  };
  let timer = look();
  return { update, [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Returns a quota with its present period; null if there is none. @param nowMs epoch milliseconds */
export function quotaAt(quota: QuotaConfig | null, nowMs: number): QuotaNow | null {
  if (quota === null) return null;
  const { videos, bytes, minutes, per } = quota;
  return { most: { videos, bytes, minutes }, per, ...periodAt(quota, nowMs) };
}

/** Returns the day or month of a quota that `nowMs` (epoch milliseconds) falls into. */
export function periodAt({ per, resets }: Pick<QuotaConfig, 'per' | 'resets'>, nowMs: number): QuotaPeriod {
  const zone = resets.zone ?? new Intl.DateTimeFormat('en').resolvedOptions().timeZone;
  const today = dayIn(zone, nowMs);
  const begins = (day: Day): number => momentIn(zone, day, resets.minutes);
  const first = per === 'day' ? today : { ...today, day: 1 };
  const since = begins(first) <= nowMs ? first : before(first, per);
  return { since: begins(since), until: begins(after(since, per)) };
}

function after(day: Day, per: QuotaConfig['per']): Day {
  // The 32nd day after the first of a month is in the next one.
  return per === 'day' ? plusDays(day, 1) : { ...plusDays(day, 31), day: 1 };
}

function before(day: Day, per: QuotaConfig['per']): Day {
  return per === 'day' ? plusDays(day, -1) : { ...plusDays(day, -1), day: 1 };
}
