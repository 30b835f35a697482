import type { Facts } from '../pipeline/file/facts.ts';

/**
 * When the local file of a finished video is deleted, for a person: `will be deleted on 29 Nov 14:00, or when the disk is 85 % full`.
 * In the time zone of this machine.
 *
 * @returns null when it is not to be deleted later
 */
export function deletionWords({ disposal, afterReady, endedAt }: Facts, now = Date.now()): string | null {
  if (disposal !== 'later' || afterReady.kind !== 'delete' || afterReady.later === undefined) return null;
  const { afterMs, whenFull } = afterReady.later;
  const whens = [
    ...(afterMs === null ? [] : [`on ${shortTime((endedAt ?? 0) + afterMs, now)}`]),
    ...(whenFull === null ? [] : [`when the disk is ${whenFull} % full`]),
  ];
  return `will be deleted ${whens.join(', or ')}`;
}

/** `29 Nov 14:00`; with the year when it is another one. Both times are epoch milliseconds. */
export function shortTime(at: number, now: number): string {
  const date = new Date(at);
  const day = `${date.getDate()} ${months[date.getMonth()] ?? ''}`;
  const year = date.getFullYear() === new Date(now).getFullYear() ? '' : ` ${date.getFullYear()}`;
  const time = [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
  return `${day}${year} ${time}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
