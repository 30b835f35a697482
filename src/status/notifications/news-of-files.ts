import type { NewsRows } from '../../ledger/news-rows.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { FileNews } from './file-news.ts';

/** How far the history was read for news. Numbers of its lines. */
export interface Cursor {
  /** Where it began: what happened before is no news. */
  readonly from: number;
  readonly read: number;
}

/** Lines that are read at once. After a flood the rest follows with the next message. */
const mostLines = 20_000;

const needing = ['failed', 'held'];

/**
 * What happened to files since the history was last read. Read from the ledger, not from events: so nothing is lost or invented when the
 * daemon is killed between a row and its message.
 */
export async function newsOfFiles(
  rows: NewsRows,
  cursor: Cursor,
): Promise<{ readonly news: readonly FileNews[]; readonly cursor: Cursor }> {
  // A ledger that was put back from a copy is behind.
  const last = await rows.lastPassage();
  const read = Math.min(cursor.read, last);
  const passages = await rows.passages(read, ['done', ...needing], mostLines);
  const end = passages.length < mostLines ? last : (passages.at(-1)?.seq ?? last);
  const ids = [...new Set(passages.map(({ id }) => id))];
  const files = ids.length === 0 ? [] : await rows.filesById(ids);
  const live = files.filter(({ end: state }) => state === 'done').map(({ id }) => id);
  const mended =
    live.length === 0 ? new Set<string>() : await rows.wereIn(live, needing, [Math.min(cursor.from, last), read]);
  return {
    news: files.flatMap((facts) => newsOf(facts, mended.has(facts.id))),
    cursor: { from: Math.min(cursor.from, last), read: end },
  };
}

/** What counts is how it stands now: what failed and was mended within a minute is live, and was never news. */
function newsOf(facts: Facts, isMended: boolean): readonly FileNews[] {
  const { id, folder, path, why, lastFailure, end } = facts;
  const shown = { id, path: escapeControls(`${folder}/${path}`), cause: lastFailure?.code ?? '', why: '', next: '' };
  if (end === 'done') return [{ ...shown, happened: isMended ? 'recovered' : 'live' }];
  if (end !== 'failed' && end !== 'held') return [];
  const reason = escapeControls(why ?? lastFailure?.message ?? 'unknown reason');
  return [
    {
      ...shown,
      happened: 'needs you',
      why: reason,
      next: `See it with dropcast show ${id}, and try again with dropcast retry ${id}`,
    },
  ];
}
