import { escapeControls, escapeJson } from '../../log/unsafe-characters.ts';
import type { Facts } from '../../pipeline/file/facts.ts';

/** Returns the first line of an export in this format; empty: none. */
export function headerOf(format: 'csv' | 'ndjson'): string {
  return format === 'csv' ? csvLine(columns) : '';
}

type FeedUrl = (feed: string) => string | null;

export function linkRecord(facts: Facts, feedUrl: FeedUrl): object {
  const { feed_urls: _, embed_url, ...record } = recordOf(facts, feedUrl);
  const feeds = Object.entries(facts.published).map(([feed, at]) => ({
    feed,
    url: feedUrl(feed),
    published_at: isoTime(at),
  }));
  const { discovered_at, uploaded_at, ready_at, done_at, ...names } = record;
  return { ...names, embed_url, feeds, discovered_at, uploaded_at, ready_at, done_at };
}

export function exportLine(facts: Facts, feedUrl: FeedUrl, format: 'csv' | 'ndjson'): string {
  const record = recordOf(facts, feedUrl);
  if (format === 'ndjson') return `${escapeJson(JSON.stringify({ v: 1, ...record }))}\n`;
  return csvLine(columns.map((column) => record[column] ?? ''));
}

const columns = [
  'path',
  'title',
  'channel',
  'video_id',
  'embed_url',
  'feed_urls',
  'discovered_at',
  'uploaded_at',
  'ready_at',
  'done_at',
] as const;

/** Times are ISO 8601 in UTC, as spreadsheets and programs read them. */
function recordOf(facts: Facts, feedUrl: FeedUrl): Readonly<Record<(typeof columns)[number], string | null>> {
  return {
    path: `${facts.folder}/${facts.path}`,
    title: facts.plan?.title ?? null,
    channel: facts.plan?.channel ?? null,
    video_id: facts.videoId,
    embed_url: facts.embedUrl,
    // A video may be in several feeds; an address has no spaces.
    feed_urls: (facts.plan?.publish ?? []).flatMap((feed) => feedUrl(feed) ?? []).join(' '),
    discovered_at: isoTime(facts.discoveredAt),
    uploaded_at: isoTime(facts.uploadedAt),
    ready_at: isoTime(facts.readyAt),
    done_at: isoTime(facts.endedAt),
  };
}

function isoTime(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Quotes a cell as in RFC 4180. A cell that a spreadsheet would run as a formula starts with an apostrophe (OWASP, "CSV
 * Injection"). Line breaks and other control characters are shown as escapes, so that each video is one line.
 */
function csvCell(text: string): string {
  const shown = escapeControls(text);
  const isFormula = /^[=+\-@\t\r]/.test(text);
  const cell = `${isFormula ? "'" : ''}${shown}`;
  return /[",']|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
