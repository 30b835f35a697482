import { type Parsed, refused } from './parsed.ts';

/**
 * The longest allowed duration. A Node timer of more than 2^31 - 1 ms (just under 25 days) fires immediately
 * (https://nodejs.org/api/timers.html#settimeoutcallback-delay-args).
 */
export const LONGEST = '24d';

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
export function parseDuration(text: string, range: { readonly min: string; readonly max: string }): Parsed<number> {
  const value = milliseconds(text);
  if (value === null) return refused(`not a duration; write ${DURATION_FORM}`);
  if (value < (milliseconds(range.min) ?? 0)) return refused(`too short; at least ${range.min}`);
  if (value > (milliseconds(range.max) ?? 0)) return refused(`too long; at most ${range.max}`);
  return { ok: true, value };
}

/** Parses a percentage such as `85%` to a whole number, 1 to 99. */
export function parsePercent(text: string): Parsed<number> {
  const [, digits] = /^(\d{1,2})%$/.exec(text) ?? [];
  const value = Number(digits);
  if (value >= 1) return { ok: true, value };
  return refused(`must be a share from 1% to 99%; write ${PERCENT_FORM}`);
}

/** Parses `20MB/s` or `8Mbit/s` to whole bytes per second, 1 kB/s to 1 TB/s. `unlimited` is `Infinity`. */
export function parseBandwidth(text: string): Parsed<number> {
  const value = amountOf(text, BYTES, `not a bandwidth; write ${BANDWIDTH_FORM}`);
  if (typeof value === 'string') return refused(value);
  if (value < 1e3) return refused('too slow; at least 1kB/s');
  if (value > 1e12 && value < Infinity) return refused('too fast; at most 1000GB/s, or write unlimited');
  return { ok: true, value };
}

/** Parses `5GB` or `200MiB` to whole bytes, 1 kB to 1,000 TB. `unlimited` is `Infinity`. */
export function parseSize(text: string): Parsed<number> {
  const value = amountOf(text, SIZES, `not a size; write ${SIZE_FORM}`);
  if (typeof value === 'string') return refused(value);
  if (value < 1e3) return refused('too small; at least 1kB');
  if (value > 1e15 && value < Infinity) return refused('too large; at most 1000TB, or write unlimited');
  return { ok: true, value };
}

/** @returns whole bytes, or the mistake: `otherwise`, or the unit that was probably meant */
function amountOf(text: string, units: Readonly<Record<string, number>>, otherwise: string): number | string {
  if (text === 'unlimited') return Infinity;
  const [, digits = '', unit = ''] = AMOUNT.exec(text) ?? [];
  const factor = lookUp(units, unit);
  if (factor !== null) return Math.floor(Number(digits) * factor);
  const intended = Object.keys(units).find((known) => known.toLowerCase() === unit.toLowerCase());
  if (intended === undefined) return otherwise;
  // Some read `Mb/s` as bits and others as bytes.
  return unit.endsWith('b/s')
    ? `ambiguous unit; write ${intended} for bytes or ${intended.replace('B', 'bit')} for bits`
    : `unknown unit; did you mean ${intended}?`;
}

function milliseconds(text: string): number | null {
  const [, digits = '', unit = ''] = DURATION.exec(text) ?? [];
  const factor = lookUp(MILLISECONDS, unit);
  return factor === null ? null : Number(digits) * factor;
}

function lookUp(table: Readonly<Record<string, number>>, unit: string): number | null {
  return Object.hasOwn(table, unit) ? (table[unit] ?? null) : null;
}
