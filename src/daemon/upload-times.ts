import type { Bandwidth } from '@dropcast/client';
import { limitAt, limitChangesAt } from '../config/bandwidth-hours.ts';
import type { Config } from '../config/config.ts';
import { isInWindow, nextMinute } from '../config/day-window.ts';
import type { DayWindow } from '../config/day-window.ts';
import type { Clock } from '../pipeline/file/ports.ts';
import { clockTime } from './clock-time.ts';

/** What the time of day says about uploads now. Moments are epoch milliseconds. */
export interface UploadTimes {
  /** Bytes per second for all uploads together; null is unlimited. */
  limit(): number | null;
  /** When another limit begins; null when none does. */
  limitUntil(): number | null;
  mayStart(): boolean;
  /** When uploads may start again; null when they may now. */
  startAt(): number | null;
}

/** @param uploads as configured now */
export function uploadTimes(uploads: () => Config['uploads'], clock: Clock): UploadTimes {
  const mayStart = (): boolean => {
    const { window } = uploads();
    return window === null || isInWindow(window, clock.now());
  };
  const next = oncePerMinute(clock);
  return {
    limit: () => limitAt(uploads().bandwidth, clock.now()),
    limitUntil: () => limitChangesAt(uploads().bandwidth, clock.now()),
    mayStart,
    startAt: () => (mayStart() ? null : next(uploads().window)),
  };
}

/** The next opening of a window. Each of a hundred thousand files that wait asks for it, and it takes half a millisecond to find. */
function oncePerMinute(clock: Clock): (window: DayWindow | null) => number | null {
  let found: { readonly window: DayWindow | null; readonly minute: number; readonly at: number | null } | null = null;
  return (window) => {
    const minute = Math.floor(clock.now() / minuteMs);
    if (found?.window === window && found.minute === minute) return found.at;
    const at = window === null ? null : nextMinute(clock.now(), (each) => isInWindow(window, each));
    found = { window, minute, at };
    return at;
  };
}

/** Why a file is not sent before a moment (epoch milliseconds). */
export function uploadsStart(atMs: number, nowMs: number): string {
  return `uploads start at ${clockTime(atMs, nowMs)}`;
}

/** Keeps the limit of all uploads as the time of day says. */
export interface KeptLimit extends Disposable {
  /** The configuration has changed. */
  update(): void;
}

const minuteMs = 60_000;

/** Looks at each full minute: limits change only then. However the clock is set, the limit is right a minute later. */
export function keepLimit(bandwidth: Bandwidth, times: Pick<UploadTimes, 'limit'>, clock: Clock): KeptLimit {
  let set = times.limit();
  bandwidth.set(set);
  const update = (): void => {
    const limit = times.limit();
    if (limit !== set) bandwidth.set(limit);
    set = limit;
  };
  const look = (): NodeJS.Timeout => {
    const untilFullMs = minuteMs - (clock.now() % minuteMs);
    return setTimeout(() => {
      update();
      timer = look();
    }, untilFullMs).unref();
  };
  let timer = look();
  return { update, [Symbol.dispose]: () => clearTimeout(timer) };
}
