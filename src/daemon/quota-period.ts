import type { QuotaConfig } from '../config/config.ts';
import type { QuotaNow, QuotaPeriod } from '../pipeline/quota.ts';
import { type Day, dayIn, momentIn, plusDays } from './expectations/zoned-time.ts';

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
