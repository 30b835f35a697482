import { parseTimeOfDay } from './day-window.ts';
import { isTimeZone } from './schema-expect.ts';

/** How much the service accepts in each day or month. `Infinity`: no limit. */
export interface QuotaConfig {
  readonly videos: number;
  readonly bytes: number;
  /** Minutes of video. */
  readonly minutes: number;
  readonly per: 'day' | 'month';
  readonly resets: QuotaReset;
}

/** When a quota starts again. */
export interface QuotaReset {
  /** Minutes since midnight; of the first day where the quota is for a month. */
  readonly minutes: number;
  /** IANA time zone name; null for this machine's time zone. */
  readonly zone: string | null;
}

export const RESET_FORM = 'a time of day in quotes, and its time zone, like "00:00 America/Los_Angeles" or "00:00"';

/** Parses `00:00 America/Los_Angeles` or `00:00`. */
export function parseReset(
  text: string,
): { readonly ok: true; readonly value: QuotaReset } | { readonly ok: false; readonly message: string } {
  const [time = '', zone = null, ...more] = text.split(' ');
  const minutes = parseTimeOfDay(time);
  if (!minutes.ok || more.length > 0) return { ok: false, message: `not a time; write ${RESET_FORM}` };
  if (zone !== null && !isTimeZone(zone))
    return { ok: false, message: `${zone} is not a time zone; write it like Europe/Berlin` };
  return { ok: true, value: { minutes: minutes.value, zone } };
}
