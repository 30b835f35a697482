/** `2026-11-23 14:20` as the clock of this machine shows a moment (epoch milliseconds). */
export function dayAndTime(atMs: number): string {
  const at = new Date(atMs);
  return `${clockDay(at)} ${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
}

/** `2026-11-23 14:20:07`, the same with seconds. */
export function dayAndSecond(atMs: number): string {
  return `${dayAndTime(atMs)}:${twoDigits(new Date(atMs).getSeconds())}`;
}

/**
 * A moment near now as the clock of this machine shows it: `14:20`, or `2026-11-23 14:20` on another day. Both are
 * epoch milliseconds.
 */
export function clockTime(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const isToday = at.toDateString() === new Date(nowMs).toDateString();
  return isToday ? dayAndTime(atMs).slice(-5) : dayAndTime(atMs);
}

/** `2026-11-23` as the clock of this machine shows it. */
export function clockDay(at: Date): string {
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
