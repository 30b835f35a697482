import { doOverlap, isInWindow, nextMinute, parseWindow } from './day-window.ts';
import type { DayWindow } from './day-window.ts';
import { BANDWIDTH_FORM, parseBandwidth } from './units.ts';

/** Combined limit for all uploads by time of day, in bytes per second; `null` is unlimited. Windows never overlap. */
export interface BandwidthHours {
  readonly windows: readonly (DayWindow & { readonly bytesPerSecond: number | null })[];
  /** The limit at all other times. */
  readonly otherwise: number | null;
}

/** A mistake in the configured limits. */
export interface HoursIssue {
  readonly message: string;
  /** The faulty entry; absent if the mistake concerns all entries. */
  readonly key?: string;
  /** Whether the entry's name is wrong rather than its value. */
  readonly isName?: boolean;
}

type Parsed =
  | { readonly ok: true; readonly value: BandwidthHours }
  | { readonly ok: false; readonly issues: readonly HoursIssue[] };

const OTHERWISE = 'otherwise';
const HOURS_FORM = `${BANDWIDTH_FORM}; or by the time of day { "08:00-18:00": 20MB/s, otherwise: unlimited }`;

/**
 * Parses a single limit, or several limits by time of day.
 *
 * @param value as parsed from YAML
 */
export function parseBandwidthHours(value: unknown): Parsed {
  if (typeof value === 'string') return always(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused([{ message: value === null ? 'has no value; set one or remove the key' : `write ${HOURS_FORM}` }]);
  const entries = Object.entries(value).map(([key, limit]) => entryOf(key, limit));
  const issues = [...entries.flatMap(({ issue }) => issue ?? []), ...overlaps(entries)];
  if (!Object.hasOwn(value, OTHERWISE)) issues.push({ message: 'needs otherwise: the limit at all other times' });
  if (issues.length > 0) return refused(issues);
  const windows = entries.flatMap(({ window, bytesPerSecond }) =>
    window === null ? [] : [{ ...window, bytesPerSecond }],
  );
  return {
    ok: true,
    value: { windows, otherwise: entries.find(({ key }) => key === OTHERWISE)?.bytesPerSecond ?? null },
  };
}

/** The limit at a given time (epoch milliseconds). */
export function limitAt({ windows, otherwise }: BandwidthHours, atMs: number): number | null {
  const window = windows.find((each) => isInWindow(each, atMs));
  return window === undefined ? otherwise : window.bytesPerSecond;
}

/** When the limit next changes after a given time (both in epoch milliseconds); null if it never does. */
export function limitChangesAt(hours: BandwidthHours, atMs: number): number | null {
  const now = limitAt(hours, atMs);
  return hours.windows.length === 0 ? null : nextMinute(atMs, (minute) => limitAt(hours, minute) !== now);
}

function always(text: string): Parsed {
  const rate = parseBandwidth(text);
  return rate.ok
    ? { ok: true, value: { windows: [], otherwise: limitOf(rate.value) } }
    : refused([{ message: rate.message }]);
}

interface Entry {
  readonly key: string;
  /** Null if the entry is `otherwise` or not a valid window. */
  readonly window: DayWindow | null;
  readonly bytesPerSecond: number | null;
  readonly issue?: HoursIssue;
}

function entryOf(key: string, limit: unknown): Entry {
  const window = key === OTHERWISE ? null : parseWindow(key);
  const rate =
    typeof limit === 'string' ? parseBandwidth(limit) : { ok: false as const, message: `write ${BANDWIDTH_FORM}` };
  const entry = {
    key,
    window: window?.ok === true ? window.value : null,
    bytesPerSecond: rate.ok ? limitOf(rate.value) : null,
  };
  if (window?.ok === false) return { ...entry, issue: { key, isName: true, message: window.message } };
  return rate.ok ? entry : { ...entry, issue: { key, message: rate.message } };
}

/** Reports overlapping windows, because their limits would contradict each other. */
function overlaps(entries: readonly Entry[]): HoursIssue[] {
  return entries.flatMap(({ key, window }, index) => {
    if (window === null) return [];
    const earlier = entries.slice(0, index).find((other) => other.window !== null && doOverlap(window, other.window));
    return earlier === undefined ? [] : [{ key, isName: true, message: `overlaps "${earlier.key}"` }];
  });
}

function refused(issues: readonly HoursIssue[]): Parsed {
  return { ok: false, issues };
}

function limitOf(bytesPerSecond: number): number | null {
  return Number.isFinite(bytesPerSecond) ? bytesPerSecond : null;
}
