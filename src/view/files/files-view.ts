import type { LineRows } from '../../ledger/queues.ts';
import type { FileFacets, FileRange, FileSelection, SelectionStore } from '../../pipeline/file/selection.ts';
import type { SettlingFile } from '../../watch/ports.ts';
import type { Folders } from '../../intake/folders.ts';
import { viewsOf } from './file-view.ts';
import type { FileView, LiveDaemon, OfFleet } from './file-view.ts';

/** Parts of the running daemon that lists of files show. */
export interface ListedDaemon extends LiveDaemon {
  readonly folders: Pick<Folders, 'settling'>;
}

export interface SettlingView {
  /** Absolute. */
  readonly path: string;
  readonly size: number;
  readonly why: string;
}

export interface FilesView {
  readonly v: 1;
  readonly files: readonly FileView[];
  /** On the first page. They have no row yet, and come before all others. */
  readonly settling: readonly SettlingView[];
  /** How many there are on all pages. */
  readonly total: number;
  /** `after` of the next page and `before` of the one before it; null: there is none. */
  readonly next: string | null;
  readonly previous: string | null;
  /** The newest of these rows, for `upTo` of the next question; null when there are none. */
  readonly newest: string | null;
  /** Counts of all rows that match, when requested. */
  readonly counts?: FileFacets;
}

export type FilesLedger = LineRows &
  OfFleet & {
    readonly selection: Pick<SelectionStore, 'page' | 'count' | 'facets'>;
  };

/**
 * Files of a selection, newest first, with what each of them waits for.
 *
 * @param daemon null: none runs, so settling files are not known
 * @param asked.range.limit settling files included
 * @param asked.isCounted also by each property
 * @param asked.isSettlingTold false: files that settle are only counted
 */
export async function filesOf(
  ledger: FilesLedger,
  daemon: ListedDaemon | null,
  asked: {
    readonly selection: FileSelection;
    readonly range: FileRange;
    readonly isCounted?: boolean;
    readonly isSettlingTold?: boolean;
  },
): Promise<FilesView> {
  const { range, isCounted = false, isSettlingTold = true } = asked;
  const selection = shownNow(daemon, asked.selection);
  const isFirst = range.after === undefined && range.before === undefined;
  const settling = settlingOf(daemon, selection);
  const told = isFirst && isSettlingTold ? settling.slice(0, range.limit) : [];
  const limit = range.limit - told.length;
  const page = limit === 0 ? null : await ledger.selection.page(selection, { ...range, limit });
  const counts = isCounted ? await ledger.selection.facets(selection) : null;
  return {
    v: 1,
    files: page === null ? [] : await viewsOf(ledger, daemon, page.files),
    settling: told.map(settlingView),
    total: settling.length + (counts?.total ?? (await ledger.selection.count(selection))),
    next: page?.isMoreAfter === true ? page.last : null,
    previous: page?.isMoreBefore === true ? page.first : null,
    newest: page?.first ?? null,
    ...(counts !== null && { counts: withSettling(counts, settling) }),
  };
}

/** Only the running daemon knows which files a step works on. */
export function shownNow(daemon: ListedDaemon | null, selection: FileSelection): FileSelection {
  return { ...selection, working: daemon?.rows.held() ?? [] };
}

/** What settles has a folder, a path, and nothing else to select by. */
function settlingOf(daemon: ListedDaemon | null, selection: FileSelection): readonly SettlingFile[] {
  const { ids, states, stages, folder, host, channel, feed, cause, text, needsPerson } = selection;
  const isRowWanted = [ids, host, channel, feed, cause, needsPerson].some((value) => value !== undefined);
  if (daemon === null || isRowWanted || [states, stages].some((words) => words?.includes('settling') === false))
    return [];
  const part = text?.toLowerCase();
  return daemon.folders.settling().filter((file) => {
    const place = part?.startsWith('/') === true ? pathOf(file) : file.path;
    return (folder ?? file.folder) === file.folder && (part === undefined || place.toLowerCase().includes(part));
  });
}

export function settlingView(file: SettlingFile): SettlingView {
  return { path: pathOf(file), size: file.size, why: file.why };
}

function pathOf({ folder, path }: SettlingFile): string {
  return `${folder}/${path}`;
}

/** They have a state and a folder, as `status` says, and nothing else. */
function withSettling(counts: FileFacets, settling: readonly SettlingFile[]): FileFacets {
  if (settling.length === 0) return counts;
  const folders = new Map(counts.folders.map(({ value, files }) => [value, files]));
  for (const { folder } of settling) folders.set(folder, (folders.get(folder) ?? 0) + 1);
  return {
    ...counts,
    total: counts.total + settling.length,
    states: [{ value: 'settling', files: settling.length }, ...counts.states],
    stages: [{ value: 'settling', files: settling.length }, ...counts.stages],
    folders: [...folders].map(([value, files]) => ({ value, files })).toSorted((one, other) => other.files - one.files),
  };
}
