import prettyBytes from 'pretty-bytes';
import prettyMilliseconds from 'pretty-ms';
import { escapeControls } from '../../log/unsafe-characters.ts';

/** Placeholder for a value that is unknown or not a number. */
export const UNKNOWN = '-';

/** Formats bytes as `12.3 MB`, in powers of ten as disks and file managers do. */
export function formatBytes(bytes: number | null): string {
  return isAmount(bytes) ? prettyBytes(bytes) : UNKNOWN;
}

/** Formats a rate as `8.1 MB/s`. */
export function formatRate(bytesPerSecond: number | null): string {
  return isAmount(bytesPerSecond) ? `${prettyBytes(Math.round(bytesPerSecond))}/s` : UNKNOWN;
}

/** Formats milliseconds in the two largest units: `3.2 s`, `1 m 20 s`, `2 h 5 m`. */
export function formatDuration(durationMs: number | null): string {
  if (!isAmount(durationMs)) return UNKNOWN;
  return spaced(
    prettyMilliseconds(Math.round(durationMs), { unitCount: 2, secondsDecimalDigits: durationMs < 60_000 ? 1 : 0 }),
  );
}

/** Formats one time relative to another (both epoch milliseconds): `in 3 m`, `2 h ago`, or `now` within a second. */
export function formatRelative(atMs: number | null, nowMs: number): string {
  if (atMs === null || !Number.isFinite(atMs - nowMs)) return UNKNOWN;
  const distance = Math.abs(atMs - nowMs);
  if (distance < 1_000) return 'now';
  const text = spaced(prettyMilliseconds(distance, { compact: true }));
  return atMs > nowMs ? `in ${text}` : `${text} ago`;
}

/** Formats a whole percentage. Shows 100 only at the very end. */
export function formatPercent(part: number, whole: number): string {
  if (!isAmount(part) || !isAmount(whole) || whole === 0) return UNKNOWN;
  return `${part >= whole ? 100 : Math.min(99, Math.floor((part / whole) * 100))}%`;
}

/** Formats a count as `12,345`. */
export function formatCount(count: number | null): string {
  return isAmount(count) ? count.toLocaleString('en') : UNKNOWN;
}

/**
 * Formats a time: `2 h ago` on a terminal; unchanged in a file or pipe, which may be read later.
 *
 * @param iso as received from the service, so possibly not a date
 */
export function formatMoment(iso: string | undefined, nowMs: number, isTerminal: boolean): string {
  if (iso === undefined) return UNKNOWN;
  const atMs = Date.parse(iso);
  return isTerminal && Number.isFinite(atMs) ? formatRelative(atMs, nowMs) : iso;
}

/** Formats a count with its noun: `1 file`, `2 files`. */
export function counted(n: number, word: string): string {
  return `${formatCount(n)} ${word}${n === 1 ? '' : 's'}`;
}

/** Joins lines of plain text, which may contain names and answers of the service. */
export function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${escapeControls(line)}\n`).join('');
}

/**
 * Warns that unanswered create requests may have left empty records on the service.
 *
 * @param count at least 1
 */
export function unansweredCreates(count: number): string {
  const left = count === 1 ? 'an empty record' : `up to ${formatCount(count)} empty records`;
  return `${counted(count, 'unanswered create request')} may have left ${left} on the service`;
}

/**
 * States that records may be empty, and which command lists them.
 *
 * @param count at least 1
 */
export function emptyRecords(count: number): string {
  return `${counted(count, 'record')} on the service may be empty: \`dropcast suspects\` lists ${count === 1 ? 'it' : 'them'}`;
}

function isAmount(value: number | null): value is number {
  return value !== null && Number.isFinite(value) && value >= 0;
}

function spaced(text: string): string {
  return text.replaceAll(/(\d)([a-z])/g, '$1 $2');
}
