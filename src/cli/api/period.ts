import { InvalidArgumentError } from 'commander';
import type { Period } from '@dropcast/client';
import { CommandError, exitCodes } from '../shell.ts';

const DAY_MS = 86_400_000;
/** Ten years. */
const MOST_DAYS = 3_660;

/**
 * Reads a day: `2026-03-01`, or `7d` for the day on which the last seven days began, today included; `1d` is today. UTC, as the
 * days of the service are.
 *
 * @returns `YYYY-MM-DD`
 * @throws {InvalidArgumentError} for anything else, and for days that no calendar has
 */
export function parseDay(text: string, nowMs: number): string {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  if (days !== undefined) return daysBack(Number(days), nowMs);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    throw new InvalidArgumentError('write a day like 2026-03-01, or 7d for the last seven days.');
  }
  if (!isCalendarDay(text)) throw new InvalidArgumentError('no calendar has this day.');
  return text;
}

/**
 * The period that two options mean. With `from` alone it ends today; with neither the service decides.
 *
 * @throws {CommandError} when it ends before it begins
 */
export function periodOf({ from, to }: Period, nowMs: number): Period {
  const end = to ?? (from === undefined ? undefined : dayOf(nowMs));
  if (from !== undefined && end !== undefined && from > end) {
    const last = to === undefined ? `today, ${end}` : `on ${end}`;
    throw new CommandError(`the period begins on ${from} but ends before that, ${last}`, exitCodes.usage);
  }
  return { ...(from !== undefined && { from }), ...(end !== undefined && { to: end }) };
}

function daysBack(days: number, nowMs: number): string {
  if (days < 1 || days > MOST_DAYS) throw new InvalidArgumentError(`expected 1d to ${MOST_DAYS}d.`);
  return dayOf(nowMs - (days - 1) * DAY_MS);
}

/** `Date` takes 2026-02-30 for the 2nd of March, so the day is asked back. */
function isCalendarDay(text: string): boolean {
  const atMs = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(atMs) && dayOf(atMs) === text;
}

function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}
