import prettyBytes from 'pretty-bytes';
import prettyMilliseconds from 'pretty-ms';

/** For what is unknown or not a number. */
export const UNKNOWN = '-';

/** `12.3 MB`; powers of ten, as disks and file managers count. */
export function formatBytes(bytes: number | null): string {
  return isAmount(bytes) ? prettyBytes(bytes) : UNKNOWN;
}

/** `8.1 MB/s`. */
export function formatRate(bytesPerSecond: number | null): string {
  return isAmount(bytesPerSecond) ? `${prettyBytes(Math.round(bytesPerSecond))}/s` : UNKNOWN;
}

/** Milliseconds as `3.2 s`, `1 m 20 s`, `2 h 5 m`: the two largest units. */
export function formatDuration(durationMs: number | null): string {
  if (!isAmount(durationMs)) return UNKNOWN;
  return spaced(
    prettyMilliseconds(Math.round(durationMs), { unitCount: 2, secondsDecimalDigits: durationMs < 60_000 ? 1 : 0 }),
  );
}

/** One time relative to another, both epoch milliseconds: `in 3 m`, `2 h ago`, `now` within a second. */
export function formatRelative(atMs: number | null, nowMs: number): string {
  if (atMs === null || !Number.isFinite(atMs - nowMs)) return UNKNOWN;
  const distance = Math.abs(atMs - nowMs);
  if (distance < 1_000) return 'now';
  const text = spaced(prettyMilliseconds(distance, { compact: true }));
  return atMs > nowMs ? `in ${text}` : `${text} ago`;
}

/** Whole percent, never 100 before the end. */
export function formatPercent(part: number, whole: number): string {
  if (!isAmount(part) || !isAmount(whole) || whole === 0) return UNKNOWN;
  return `${part >= whole ? 100 : Math.min(99, Math.floor((part / whole) * 100))}%`;
}

/** `12,345`. */
export function formatCount(count: number | null): string {
  return isAmount(count) ? count.toLocaleString('en') : UNKNOWN;
}

/**
 * A time for display: `2 h ago` on a terminal; unchanged in a file or pipe, which is read later.
 *
 * @param iso as the service sent it, which may be anything
 */
export function formatMoment(iso: string | undefined, nowMs: number, isTerminal: boolean): string {
  if (iso === undefined) return UNKNOWN;
  const atMs = Date.parse(iso);
  return isTerminal && Number.isFinite(atMs) ? formatRelative(atMs, nowMs) : iso;
}

/** `1 file`, `2 files`. */
export function counted(n: number, word: string): string {
  return `${formatCount(n)} ${word}${n === 1 ? '' : 's'}`;
}

/** Create requests that got no answer may have left empty records on the service. @param count at least 1 */
export function unansweredCreates(count: number): string {
  const left = count === 1 ? 'an empty record' : `up to ${formatCount(count)} empty records`;
  return `${counted(count, 'unanswered create request')} may have left ${left} on the service`;
}

/** Where to list records that may be empty. @param count at least 1 */
export function emptyRecords(count: number): string {
  return `${counted(count, 'record')} on the service may be empty: \`dropcast suspects\` lists ${count === 1 ? 'it' : 'them'}`;
}

function isAmount(value: number | null): value is number {
  return value !== null && Number.isFinite(value) && value >= 0;
}

function spaced(text: string): string {
  return text.replaceAll(/(\d)([a-z])/g, '$1 $2');
}
