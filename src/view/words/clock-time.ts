/** A moment near now as the clock of this machine shows it: `14:20`, or `2026-11-23 14:20` on another day. Both are epoch milliseconds. */
export function clockTime(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const time = `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
  return at.toDateString() === new Date(nowMs).toDateString() ? time : `${clockDay(at)} ${time}`;
}

/** `2026-11-23` as the clock of this machine shows it. */
export function clockDay(at: Date): string {
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
