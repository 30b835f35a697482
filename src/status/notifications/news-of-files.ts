import type { HistoryRows } from '../../ledger/history.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import { viewOf } from '../../view/files/file-view.ts';
import type { FileNews } from './file-news.ts';

/** How far the history has been read for news, in line numbers. */
export interface Cursor {
  /** Line at which reading began; earlier events are not news. */
  readonly from: number;
  readonly read: number;
}

/** Maximum number of lines read at a time; the rest follows with the next message. */
const mostLines = 20_000;

const needing = ['failed', 'held'];
const told = ['done', ...needing];

/**
 * Reads the file events since the last check. They come from the ledger, so nothing is lost or invented if the daemon
 * is killed between writing a row and its message.
 *
 * @returns `isAll` false when there is more to read
 */
export async function newsOfFiles(
  ledger: RowStore<'by id'> & HistoryRows,
  cursor: Cursor,
): Promise<{ readonly news: readonly FileNews[]; readonly cursor: Cursor; readonly isAll: boolean }> {
  // Limits the cursor to the last line: a ledger restored from a copy is behind.
  const last = await ledger.lastPassage();
  const read = Math.min(cursor.read, last);
  const from = Math.min(cursor.from, last);
  const passages = await ledger.passages(read, told, mostLines);
  const isAll = passages.length < mostLines;
  const end = isAll ? last : (passages.at(-1)?.seq ?? last);
  const ids = [...new Set(passages.map(({ id }) => id))];
  const files = ids.length === 0 ? [] : await ledger.rows({ group: 'by id', ids });
  const before = ids.length === 0 ? new Map<string, never>() : await ledger.lastStates(ids, told, read);
  const stateBefore = (id: string): string | null => {
    const line = before.get(id);
    // Failures before the first notification were never announced.
    return line === undefined || (line.seq <= from && line.state !== 'done') ? null : line.state;
  };
  return {
    news: files.flatMap((facts) => newsOf(facts, stateBefore(facts.id))),
    cursor: { from, read: end },
    isAll,
  };
}

/** Only the current state counts: a file that failed and was fixed within a minute is reported as live only. */
function newsOf(facts: Facts, before: string | null): readonly FileNews[] {
  const { id, folder, path, end, disposal } = facts;
  const shown = { id, path: escapeControls(`${folder}/${path}`), cause: '', why: '', next: '' };
  if (end === 'failed' || end === 'held') return [needsYou(facts)];
  if (end !== 'done') return [];
  return [
    // Later lines about a live file concern its local file or its feeds.
    ...(before === 'done'
      ? []
      : [{ ...shown, happened: before === null ? ('live' as const) : ('recovered' as const) }]),
    ...(disposal === 'waiting' ? [needsYou(facts)] : []),
  ];
}

function needsYou(facts: Facts): FileNews {
  const { id, folder, path, why, lastFailure } = facts;
  return {
    id,
    path: escapeControls(`${folder}/${path}`),
    happened: 'needs you',
    cause: viewOf(null, facts).cause ?? '',
    why: escapeControls(why ?? lastFailure?.message ?? 'unknown reason'),
    next: `See it with dropcast show ${id}`,
  };
}
