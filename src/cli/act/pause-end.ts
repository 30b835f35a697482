import { LONGEST, parseDuration } from '../../config/units.ts';
import { CommandError, exitCodes } from '../shell.ts';

const timeOfDay = /^([01]?\d|2[0-3]):([0-5]\d)$/;

/**
 * Pure: when a pause ends: `2h` from now on, or the next `18:00` by the clock of whoever gives the command.
 *
 * @param now epoch milliseconds, as is what is returned
 * @throws {CommandError} when it is neither
 */
export function pauseEnd(text: string, now: number): number {
  const time = timeOfDay.exec(text);
  if (time !== null) return nextTime(Number(time[1]), Number(time[2]), now);
  const duration = parseDuration(text, { min: '1s', max: LONGEST });
  if (duration.ok) return now + duration.value;
  const isOutOfRange = duration.message.startsWith('too ');
  const neither = `neither a time of day like 18:00 nor a duration like 30m or 2h: ${text}`;
  throw new CommandError(`--until: ${isOutOfRange ? duration.message : neither}`, exitCodes.usage);
}

/** By the calendar, so that a day of 23 or 25 hours makes no difference. */
function nextTime(hours: number, minutes: number, now: number): number {
  const at = new Date(now);
  at.setHours(hours, minutes, 0, 0);
  if (at.getTime() <= now) at.setDate(at.getDate() + 1);
  return at.getTime();
}
