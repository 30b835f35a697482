import { doOverlap, isInWindow, parseWindow } from './day-window.ts';
import type { DayWindow } from './day-window.ts';
import { type Parsed, refused } from './parsed.ts';
import { isMapping } from './raw-tree.ts';
import { BANDWIDTH_FORM, parseBandwidth } from './units.ts';

/** Combined limit for all uploads by time of day, in bytes per second; `null` is unlimited. Windows never overlap. */
export interface BandwidthHours {
  readonly windows: readonly (DayWindow & { readonly bytesPerSecond: number | null })[];
  /** The limit at all other times. */
  readonly otherwise: number | null;
}

/** A mistake in the configured limits. */
interface HoursIssue {
  readonly message: string;
  /** The faulty entry; absent if the mistake concerns all entries. */
  readonly key?: string;
  /** Whether the entry's name is wrong rather than its value. */
  readonly isName?: boolean;
}

type ParsedHours =
  | { readonly ok: true; readonly value: BandwidthHours }
  | { readonly ok: false; readonly issues: readonly HoursIssue[] };

const OTHERWISE = 'otherwise';
const HOURS_FORM = `${BANDWIDTH_FORM}; or by the time of day { "08:00-18:00": 20MB/s, otherwise: unlimited }`;

/**
 * Parses a single limit, or several limits by time of day.
 *
 * @param value as parsed from YAML
 */
export function parseBandwidthHours(value: unknown): ParsedHours {
  if (typeof value === 'string') {
    const always = parseLimit(value);
    return always.ok ? { ok: true, value: { windows: [], otherwise: always.value } } : { ok: false, issues: [always] };
  }
  if (!isMapping(value)) {
    const message = value === null ? 'has no value; set one or remove the key' : `write ${HOURS_FORM}`;
    return { ok: false, issues: [{ message }] };
  }
  const issues: HoursIssue[] = [];
  const windows = new Map<string, BandwidthHours['windows'][number]>();
  let otherwise: number | null = null;
  for (const [key, written] of Object.entries(value)) {
    const limit = parseLimit(written);
    const bytesPerSecond = limit.ok ? limit.value : null;
    const window = key === OTHERWISE ? null : parseWindow(key);
    if (window?.ok === false) issues.push({ key, isName: true, message: window.message });
    else if (!limit.ok) issues.push({ key, message: limit.message });
    if (window === null) otherwise = bytesPerSecond;
    if (window?.ok !== true) continue;
    // The limits of windows that overlap would contradict each other.
    const [earlier] = [...windows].find(([, other]) => doOverlap(window.value, other)) ?? [];
    if (earlier !== undefined) issues.push({ key, isName: true, message: `overlaps "${earlier}"` });
    windows.set(key, { ...window.value, bytesPerSecond });
  }
  if (!Object.hasOwn(value, OTHERWISE)) issues.push({ message: 'needs otherwise: the limit at all other times' });
  return issues.length > 0 ? { ok: false, issues } : { ok: true, value: { windows: [...windows.values()], otherwise } };
}

/** Parses the limit of all uploads or of one window. */
function parseLimit(written: unknown): Parsed<number | null> {
  if (typeof written !== 'string') return refused(`write ${BANDWIDTH_FORM}`);
  const rate = parseBandwidth(written);
  return rate.ok && rate.value === Infinity ? { ok: true, value: null } : rate;
}

/** The limit at a given time (epoch milliseconds). */
export function limitAt({ windows, otherwise }: BandwidthHours, atMs: number): number | null {
  const window = windows.find((each) => isInWindow(each, atMs));
  return window === undefined ? otherwise : window.bytesPerSecond;
}

/** The limit of all uploads, and whether new ones may start. */
export interface HoursChange {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly bandwidth: number | null;
  readonly mayStart: boolean;
}

const MINUTE_MS = 60_000;
const TWO_DAYS = 2 * 24 * 60;

/**
 * Returns the changes in the two days after `nowMs` (epoch milliseconds). Tries every minute, because only the local
 * clock accounts for daylight saving.
 */
export function hoursAfter(
  { bandwidth, window }: { readonly bandwidth: BandwidthHours; readonly window: DayWindow | null },
  nowMs: number,
): readonly HoursChange[] {
  if (bandwidth.windows.length === 0 && window === null) return [];
  const hoursAt = (at: number): HoursChange => {
    return { at, bandwidth: limitAt(bandwidth, at), mayStart: window === null || isInWindow(window, at) };
  };
  const changes = [hoursAt(nowMs)];
  const first = Math.floor(nowMs / MINUTE_MS) + 1;
  for (let minute = first; minute <= first + TWO_DAYS; minute += 1) {
    const next = hoursAt(minute * MINUTE_MS);
    const last = changes.at(-1);
    if (last?.bandwidth !== next.bandwidth || last.mayStart !== next.mayStart) changes.push(next);
  }
  return changes.slice(1);
}
