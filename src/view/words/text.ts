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

/** Example: `3.41 GB`. Uses powers of ten, as disks and file managers do. */
export function size(bytes: number): string {
  return inUnits(bytes, 3);
}

/** Example: `20 MB/s`. */
export function rate(bytesPerSecond: number): string {
  return `${inUnits(bytesPerSecond, 2)}/s`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

function inUnits(bytes: number, digits: number): string {
  const rounded = bytes < 1 ? Math.round(bytes) : Number(bytes.toPrecision(digits));
  const step = rounded < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(rounded) / 3));
  const value = Number((rounded / 1_000 ** step).toPrecision(digits));
  return `${step === 0 ? Math.round(value) : value} ${units[step]}`;
}

/** Capitalises the start of a sentence. Leaves a leading address unchanged, because `Http://` is not one. Pure. */
export function capitalised(text: string): string {
  return /^[a-z][a-z\d+.-]*:\/\//.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** Makes a text a complete sentence. Pure. */
export function wholeSentence(text: string): string {
  const begun = capitalised(text.trim());
  return begun === '' || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Formats a number with its noun: `1 video`, `1,234 videos`. Pure. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

const mostNamed = 3;

/** Returns the first names of a list. */
export function firstNames<T>(names: readonly T[]): readonly T[] {
  return names.slice(0, mostNamed);
}

/** Example: `a.mp4, b.mp4, c.mp4 and 57 more`. Pure. @param count total number of names */
export function someNames(names: readonly string[], count: number): string {
  const shown = firstNames(names);
  const more = count - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
