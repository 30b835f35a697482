import { unsafeCharacters } from './unsafe-characters.ts';

/**
 * Makes text from outside visible and harmless. Characters that could hide something appear as their numbers, such as
 * `[U+202E]`.
 */
export function visibleText(text: string): string {
  return text.replace(unsafeCharacters, numbered);
}

function numbered(character: string): string {
  return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** Like `visibleText`, for several lines. Line breaks and tabs remain, because a copied command must be identical. */
export function visibleLines(text: string): string {
  return text
    .split(/(\r?\n|\t)/)
    .map((part, index) => (index % 2 === 0 ? visibleText(part) : part.replace('\r', '')))
    .join('');
}

/** Formats a number with separators: `1,234`. */
export function grouped(count: number): string {
  return COUNT.format(count);
}

const COUNT = new Intl.NumberFormat('en');

/** Formats a number with its noun: `1 video`, `1,234 videos`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Formats how long something took or will take: `850 ms`, `1.5 s`, `3 min 20 s`, `2 h 5 min`, `4 d 1 h`. */
export function span(durationMs: number): string {
  const ms = Math.max(0, durationMs); // what a restarted clock calls the future
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))} s`;
  const steps = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ] as const;
  const first = steps.findIndex(([, size]) => ms >= size);
  const [large, small] = steps.slice(first, first + 2);
  if (!large || !small) return `${Math.round(ms)} ms`;
  const rest = Math.floor((ms % large[1]) / small[1]);
  return `${Math.floor(ms / large[1])} ${large[0]}${rest > 0 ? ` ${rest} ${small[0]}` : ''}`;
}

/** Formats a size like `12.3 MB`, using powers of 1000. */
export function fileSize(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const unit = units[power] ?? 'byte';
  const unitDisplay = power === 0 ? 'long' : 'short';
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 }).format(
    bytes / 1000 ** power,
  );
}

/** Formats a share as `42 %`. @param fraction 0 to 1 */
export function percent(fraction: number): string {
  return `${Math.round(fraction * 100)} %`;
}
