/** Formats epoch milliseconds in local time: `2026-11-23 14:20`. */
export function dayAndTime(atMs: number): string {
  const at = new Date(atMs);
  return `${clockDay(at)} ${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
}

/** Like `dayAndTime`, with seconds: `2026-11-23 14:20:07`. */
export function dayAndSecond(atMs: number): string {
  return `${dayAndTime(atMs)}:${twoDigits(new Date(atMs).getSeconds())}`;
}

/**
 * Formats a moment in local time: `14:20` today, `2026-11-23 14:20` on another day. Both arguments are epoch
 * milliseconds.
 */
export function clockTime(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const isToday = at.toDateString() === new Date(nowMs).toDateString();
  return isToday ? dayAndTime(atMs).slice(-5) : dayAndTime(atMs);
}

/** Formats the local date: `2026-11-23`. */
export function clockDay(at: Date): string {
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
