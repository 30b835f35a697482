import { InvalidArgumentError } from 'commander';
import type { Period } from '@dropcast/client';
import { CommandError, exitCodes } from '../shell.ts';

const DAY_MS = 86_400_000;
/** Longest period in days, about ten years. */
const MOST_DAYS = 3_660;

/**
 * Parses a day: `2026-03-01`, or `7d` for the first of the last seven days including today; `1d` is today. Days are in
 * UTC, as in the service.
 *
 * @returns `YYYY-MM-DD`
 * @throws {InvalidArgumentError} for anything else, and for dates that do not exist
 */
export function parseDay(text: string, nowMs: number): string {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  if (days !== undefined) return daysBack(Number(days), nowMs);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    throw new InvalidArgumentError('write a day like 2026-03-01, or 7d for the last seven days.');
  }
  if (!isCalendarDay(text)) throw new InvalidArgumentError('there is no such date.');
  return text;
}

/**
 * Builds the period from two options. With only `from`, it ends today; with neither, the service decides.
 *
 * @throws {CommandError} when the period ends before it starts
 */
export function periodOf({ from, to }: Period, nowMs: number): Period {
  const end = to ?? (from === undefined ? undefined : dayOf(nowMs));
  if (from !== undefined && end !== undefined && from > end) {
    const last = to === undefined ? `today, ${end}` : `on ${end}`;
    throw new CommandError(`the period starts on ${from} but ends before that, ${last}`, exitCodes.usage);
  }
  return { ...(from !== undefined && { from }), ...(end !== undefined && { to: end }) };
}

function daysBack(days: number, nowMs: number): string {
  if (days < 1 || days > MOST_DAYS) throw new InvalidArgumentError(`expected 1d to ${MOST_DAYS}d.`);
  return dayOf(nowMs - (days - 1) * DAY_MS);
}

/** Whether a date exists. `Date` parses 2026-02-30 as 2 March, so the result is compared with the text. */
function isCalendarDay(text: string): boolean {
  const atMs = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(atMs) && dayOf(atMs) === text;
}

function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}
