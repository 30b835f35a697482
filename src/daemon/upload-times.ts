import type { Bandwidth } from '@dropcast/client';
import { type HoursChange, hoursAfter, limitAt } from '../config/bandwidth-hours.ts';
import type { Config, QuotaConfig } from '../config/config.ts';
import { isInWindow } from '../config/day-window.ts';
import type { QuotaNow, QuotaPeriod } from '../pipeline/quota.ts';
import type { Clock } from '../pipeline/file/ports.ts';
import { type Day, dayIn, momentIn, plusDays } from '../pipeline/zoned-time.ts';
import type { ViewedDaemon } from '../view/viewed-daemon.ts';

/** Upload limits that depend on the time of day. Times are epoch milliseconds. */
export type UploadTimes = ViewedDaemon['times'];

const minuteMs = 60_000;

/** @param uploads returns the current upload settings */
export function uploadTimes(uploads: () => Config['uploads'], clock: Clock): UploadTimes {
  let found: { readonly of: Config['uploads']; readonly minute: number; readonly list: readonly HoursChange[] } | null =
    null;
  /** Finds them once a minute: each of 100,000 waiting files may ask, and that takes up to several milliseconds. */
  const changes = (): readonly HoursChange[] => {
    const [of, minute] = [uploads(), Math.floor(clock.now() / minuteMs)];
    if (found?.of !== of || found.minute !== minute) found = { of, minute, list: hoursAfter(of, clock.now()) };
    return found.list;
  };
  const limit = (): number | null => limitAt(uploads().bandwidth, clock.now());
  const mayStart = (): boolean => {
    const { window } = uploads();
    return window === null || isInWindow(window, clock.now());
  };
  return {
    limit,
    limitUntil: () => changes().find(({ bandwidth }) => bandwidth !== limit())?.at ?? null,
    mayStart,
    startAt: () => (mayStart() ? null : (changes().find((each) => each.mayStart)?.at ?? null)),
    later: () => changes().map(({ at, ...hours }) => ({ ...hours, inMs: Math.max(0, at - clock.now()) })),
  };
}

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
