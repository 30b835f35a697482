import { setImmediate } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import type { EventRows, KeptEvent, HistoryRows, Passage } from '../../ledger/history.ts';
import { readFeedLinks } from '../../host/feed-links.ts';
import type { FeedLinks } from '../../host/feed-links.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { NoteStore } from '../../pipeline/file/ports.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import { feedUrlsOf } from '../../view/files/file-view.ts';
import { capitalised } from '../../view/words/text.ts';
import { stateWords } from '../../view/words/events.ts';
import type { KeptLine, NewsLine } from './lines.ts';

/** @returns the host whose lines are shown; null: all lines, because a single host may have changed its name */
export function shownHost({ ledger, hostName }: Pick<Config, 'ledger' | 'hostName'>): string | null {
  return ledger === null ? null : hostName;
}

/** How far back lines of earlier runs are shown, in milliseconds: as long as the ledger keeps events. */
const shownMs = 30 * 86_400_000;

export type PastRows = RowStore<'any'> & EventRows & HistoryRows & Pick<NoteStore, 'note'>;

/**
 * Returns the newest lines of earlier runs. Those about files come from their history, all others from the lines kept
 * for 30 days.
 *
 * @param of.host see `shownHost`; file history always covers all hosts
 * @param of.now epoch milliseconds
 * @returns oldest first; numbered up to 0, because a run counts from 1
 */
export async function pastLines(
  ledger: PastRows,
  { host, limit, now }: { readonly host: string | null; readonly limit: number; readonly now: number },
): Promise<readonly NewsLine[]> {
  const kept = await ledger.events({ host, since: now - shownMs, limit });
  const passages = await ledger.passages((await ledger.lastPassage()) - limit, Object.keys(stateWords), limit);
  const lines = await linesOf(ledger, merged(kept, passages, start).slice(-limit));
  return lines.map((each, index) => {
    const { cursor: _, ...line } = each;
    return { ...line, seq: index + 1 - lines.length };
  });
}

/** A line of any run, as stored in the ledger. */
export interface PastLine extends KeptLine {
  /** Cursor for the page after this line. It stays valid when lines are added, even if many have the same time. */
  readonly cursor: string;
}

export type PastPage = Awaited<ReturnType<typeof pastPage>>;

/** Maximum number of lines per page, so that reading a page does not block the event loop. */
const mostInPage = 500;

/** @returns why a text is not a cursor; null: it is valid or empty */
export function whyNoCursor(text: string): string | null {
  return text === '' || cursorForm.test(text) ? null : `"${text}" is not a cursor of \`dropcast events\``;
}

const cursorForm = /^(\d{1,15})-(\d{1,15})$/;

/**
 * Reads all lines kept since a time, one page at a time. Lines of one kind stay in the order they were written, even if
 * the clock was set back in between. `next` in the result is the cursor for the next page; null: none yet.
 *
 * @param of.since epoch milliseconds
 * @param of.after cursor of the last known line; empty: start at the first line
 * @param of.limit 1 to 500
 */
export async function pastPage(
  ledger: PastRows,
  of: {
    readonly host: string | null;
    readonly since: number;
    readonly after: string;
    readonly limit?: number;
  },
) {
  const { limit = mostInPage } = of;
  const from = positionOf(of.after);
  const kept = await ledger.events({ host: of.host, after: from.event, since: of.since, limit });
  const last = await ledger.lastPassage();
  const passages = await passagesSince(ledger, { after: from.passage, since: of.since, last }, limit);
  const all = merged(kept, passages, from);
  const page = all.slice(0, limit);
  const isLast = kept.length < limit && passages.length < limit && all.length <= limit;
  const lines = await linesOf(ledger, page);
  const end = page.at(-1)?.position;
  if (isLast || end === undefined) return { v: 1, lines, next: null };
  // Moves the cursor to the end of a searched history, so that later pages do not search it again.
  const isSearched = passages.length < limit && end.passage === (passages.at(-1)?.seq ?? from.passage);
  return { v: 1, lines, next: cursorOf(isSearched ? { ...end, passage: Math.max(last, end.passage) } : end) };
}

/** Maximum number of history rows examined per query: the history has no index on time. */
const mostLookedAt = 10_000;

async function passagesSince(
  ledger: PastRows,
  { after, since, last }: { readonly after: number; readonly since: number; readonly last: number },
  limit: number,
): Promise<readonly Passage[]> {
  const found: Passage[] = [];
  for (let from = after; from < last && found.length < limit; from += mostLookedAt) {
    const within = { since, until: Math.min(last, from + mostLookedAt) };
    found.push(...(await ledger.passages(from, Object.keys(stateWords), limit - found.length, within)));
    await setImmediate();
  }
  return found;
}

/** The last line number of each kind. */
interface Position {
  readonly event: number;
  readonly passage: number;
}

const start: Position = { event: 0, passage: 0 };

function positionOf(cursor: string): Position {
  const [, event, passage] = cursorForm.exec(cursor) ?? [];
  return event === undefined ? start : { event: Number(event), passage: Number(passage) };
}

function cursorOf({ event, passage }: Position): string {
  return `${event}-${passage}`;
}

type Past = { readonly position: Position } & (
  | { readonly event: KeptEvent; readonly passage?: undefined }
  | { readonly passage: Passage }
);

/** Merges by time, keeping the order within each kind. */
function merged(events: readonly KeptEvent[], passages: readonly Passage[], from: Position): readonly Past[] {
  const all: Past[] = [];
  let position = from;
  let [e, p] = [0, 0];
  for (;;) {
    const [event, passage] = [events[e], passages[p]];
    if (event !== undefined && (passage === undefined || event.at <= passage.at)) {
      position = { ...position, event: event.seq };
      all.push({ position, event });
      e += 1;
    } else if (passage !== undefined) {
      position = { ...position, passage: passage.seq };
      all.push({ position, passage });
      p += 1;
    } else return all;
  }
}

/** Omits damaged lines and lines about files that were removed from the ledger. */
async function linesOf(ledger: PastRows, past: readonly Past[]): Promise<readonly PastLine[]> {
  const ids = new Set(past.flatMap(({ passage }) => passage?.id ?? []));
  const files = new Map((await ledger.rows({ group: 'any', where: { ids: [...ids] } })).map((each) => [each.id, each]));
  const links = await readFeedLinks(ledger);
  return past.flatMap((each) => {
    const line =
      each.passage === undefined
        ? (each.event.line as KeptLine | null)
        : lineOf(files.get(each.passage.id), each.passage, links);
    return line === null ? [] : [{ ...line, cursor: cursorOf(each.position) }];
  });
}

function lineOf(
  facts: Facts | undefined,
  { id, at, state, note }: Passage,
  links: Pick<FeedLinks, 'find'>,
): KeptLine | null {
  if (facts === undefined) return null;
  const { folder, path, videoId: video_id, embedUrl: embed_url } = facts;
  const [level, words] = stateWords[state] ?? ['info', capitalised(state)];
  const text = note === null ? words : `${words}: ${note}`;
  const feed_urls = feedUrlsOf(facts, links);
  return { v: 1, at, level, type: 'file', file: id, folder, path, state, video_id, embed_url, feed_urls, text };
}
