/**
 * The longest allowed duration. A Node timer of more than 2^31 - 1 ms (just under 25 days) fires immediately
 * (https://nodejs.org/api/timers.html#settimeoutcallback-delay-args).
 */
export const LONGEST = '24d';

export type Measured = { readonly ok: true; readonly value: number } | { readonly ok: false; readonly message: string };

const MILLISECONDS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d{1,10})(ms|s|m|h|d)$/;

/** Bytes per second in each unit. Eight bits make a byte, and prefixes are powers of ten, as in network rates. */
const BYTES = {
  'B/s': 1,
  'bit/s': 0.125,
  'kB/s': 1e3,
  'MB/s': 1e6,
  'GB/s': 1e9,
  'kbit/s': 125,
  'Mbit/s': 125e3,
  'Gbit/s': 125e6,
} as const;

const SIZES = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
} as const;
const AMOUNT = /^(\d{1,10}(?:\.\d{1,3})?) ?(\S+)$/;
const SMALLEST = 1000;
const LARGEST = 1e15;

const SLOWEST = 1000;
const FASTEST = 1e12;

export const DURATION_FORM = 'a whole number with a unit, like 500ms, 5s, 2m, 24h or 7d';
export const PERCENT_FORM = 'a whole number with a per cent sign, like 85%';
export const BANDWIDTH_FORM = 'unlimited, or a number with a unit, like 500kB/s, 20MB/s or 8Mbit/s';
export const SIZE_FORM = 'unlimited, or a number with a unit, like 200MB, 5GB or 5GiB';

/**
 * Parses a duration such as `500ms`, `5s`, `2m`, `24h` or `7d` to milliseconds. Values out of range are refused, never
 * adjusted.
 *
 * @param range shortest and longest allowed duration, inclusive, in the same notation
 */
export function parseDuration(text: string, range: { readonly min: string; readonly max: string }): Measured {
  const value = milliseconds(text);
  if (value === null) return { ok: false, message: `not a duration; write ${DURATION_FORM}` };
  if (value < (milliseconds(range.min) ?? 0)) return { ok: false, message: `too short; at least ${range.min}` };
  if (value > (milliseconds(range.max) ?? 0)) return { ok: false, message: `too long; at most ${range.max}` };
  return { ok: true, value };
}

/** Parses a percentage such as `85%` to a whole number, 1 to 99. */
export function parsePercent(text: string): Measured {
  const [, digits] = /^(\d{1,2})%$/.exec(text) ?? [];
  const value = Number(digits);
  if (value >= 1) return { ok: true, value };
  return { ok: false, message: `must be a share from 1% to 99%; write ${PERCENT_FORM}` };
}

/** Parses `20MB/s` or `8Mbit/s` to whole bytes per second, 1 kB/s to 1 TB/s. `unlimited` is `Infinity`. */
export function parseBandwidth(text: string): Measured {
  if (text === 'unlimited') return { ok: true, value: Number.POSITIVE_INFINITY };
  const [, digits = '', unit = ''] = AMOUNT.exec(text) ?? [];
  const factor = lookUp(BYTES, unit);
  if (factor === null) return { ok: false, message: bandwidthHint(unit) };
  const value = Math.round(Number(digits) * factor);
  if (value < SLOWEST) return { ok: false, message: 'too slow; at least 1kB/s' };
  if (value > FASTEST) return { ok: false, message: 'too fast; at most 1000GB/s, or write unlimited' };
  return { ok: true, value };
}

/** Parses `5GB` or `200MiB` to whole bytes, 1 kB to 1,000 TB. `unlimited` is `Infinity`. */
export function parseSize(text: string): Measured {
  if (text === 'unlimited') return { ok: true, value: Number.POSITIVE_INFINITY };
  const [, digits = '', unit = ''] = AMOUNT.exec(text) ?? [];
  const factor = lookUp(SIZES, unit);
  if (factor === null) {
    const intended = Object.keys(SIZES).find((known) => known.toLowerCase() === unit.toLowerCase());
    const hint = intended === undefined ? `not a size; write ${SIZE_FORM}` : `unknown unit; did you mean ${intended}?`;
    return { ok: false, message: hint };
  }
  const value = Math.floor(Number(digits) * factor);
  if (value < SMALLEST) return { ok: false, message: 'too small; at least 1kB' };
  if (value > LARGEST) return { ok: false, message: 'too large; at most 1000TB, or write unlimited' };
  return { ok: true, value };
}

function milliseconds(text: string): number | null {
  const [, digits = '', unit = ''] = DURATION.exec(text) ?? [];
  const factor = lookUp(MILLISECONDS, unit);
  return factor === null ? null : Number(digits) * factor;
}

/** Suggests a valid unit. `Mb/s` is refused because some read it as bits and others as bytes. */
function bandwidthHint(unit: string): string {
  const intended = Object.keys(BYTES).find((known) => known.toLowerCase() === unit.toLowerCase());
  if (intended === undefined) return `not a bandwidth; write ${BANDWIDTH_FORM}`;
  return unit.endsWith('b/s')
    ? `ambiguous unit; write ${intended} for bytes or ${intended.replace('B', 'bit')} for bits`
    : `unknown unit; did you mean ${intended}?`;
}

function lookUp(table: Readonly<Record<string, number>>, unit: string): number | null {
  return Object.hasOwn(table, unit) ? (table[unit] ?? null) : null;
}
