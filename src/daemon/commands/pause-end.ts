import { refused, type Parsed } from '../../config/parsed.ts';
import { LONGEST, parseDuration } from '../../config/units.ts';

const timeOfDay = /^([01]?\d|2[0-3]):([0-5]\d)$/;

/**
 * Computes when a pause ends: `2h` from now, or the next `18:00` in the local time of this process. Pure.
 *
 * @param now epoch milliseconds, like the result
 */
export function pauseEnd(text: string, now: number): Parsed<number> {
  const time = timeOfDay.exec(text);
  if (time !== null) return { ok: true, value: nextTime(Number(time[1]), Number(time[2]), now) };
  const duration = parseDuration(text, { min: '1s', max: LONGEST });
  if (duration.ok) return { ok: true, value: now + duration.value };
  const isOutOfRange = duration.message.startsWith('too ');
  return refused(
    isOutOfRange ? duration.message : `neither a time of day like 18:00 nor a duration like 30m or 2h: ${text}`,
  );
}

/** The next occurrence of a time of day. Uses calendar days, so that days of 23 or 25 hours work. */
function nextTime(hours: number, minutes: number, now: number): number {
  const at = new Date(now);
  at.setHours(hours, minutes, 0, 0);
  if (at.getTime() <= now) at.setDate(at.getDate() + 1);
  return at.getTime();
}
