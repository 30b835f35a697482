import type { LineRows } from '../../ledger/queues.ts';
import type {
  CountsStore,
  FileFacets,
  FileRange,
  FileSelection,
  SelectionStore,
} from '../../pipeline/file/selection.ts';
import type { SettlingFile } from '../../watch/ports.ts';
import type { ViewedDaemon } from '../viewed-daemon.ts';
import { viewsOf, type FileView, type OfFleet } from './file-view.ts';

export interface SettlingView {
  /** Absolute path. */
  readonly path: string;
  readonly size: number;
  readonly why: string;
}

export interface FilesView {
  readonly v: 1;
  readonly files: readonly FileView[];
  /** Settling files, on the first page only. They have no rows yet and come before all other files. */
  readonly settling: readonly SettlingView[];
  /** Number of files on all pages. */
  readonly total: number;
  /** Cursors: `after` for the next page, `before` for the previous one; null: there is no such page. */
  readonly next: string | null;
  readonly previous: string | null;
  /** Newest of these rows, for `upTo` in the next request; null when there are none. */
  readonly newest: string | null;
  /** Counts of all matching rows, if requested. */
  readonly counts?: FileFacets;
}

export type FilesLedger = LineRows &
  CountsStore &
  OfFleet & {
    readonly selection: Pick<SelectionStore, 'page' | 'facets'>;
  };

/**
 * Lists the selected files, newest first, with what each is waiting for.
 *
 * @param daemon null: not running, so settling files are unknown
 * @param asked.range.limit includes settling files
 * @param asked.isCounted also count files by each property
 * @param asked.isSettlingTold false: settling files are only counted
 */
export async function filesOf(
  ledger: FilesLedger,
  daemon: ViewedDaemon | null,
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
    total: settling.length + (counts?.total ?? filesIn(await ledger.counts({ where: selection, by: [] }))),
    next: page?.isMoreAfter === true ? page.last : null,
    previous: page?.isMoreBefore === true ? page.first : null,
    newest: page?.first ?? null,
    ...(counts !== null && { counts: withSettling(counts, settling) }),
  };
}

/** Returns the number of files in all counts together. */
export function filesIn(counts: readonly { readonly files: number }[]): number {
  return counts.reduce((sum, { files }) => sum + files, 0);
}

/** Adds the rows that steps are working on, which only the running daemon knows. */
export function shownNow(daemon: ViewedDaemon | null, selection: FileSelection): FileSelection {
  return { ...selection, working: daemon?.rows.held() ?? [] };
}

/** Returns matching settling files. They can only be selected by state, folder and path. */
function settlingOf(daemon: ViewedDaemon | null, selection: FileSelection): readonly SettlingFile[] {
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

/** Settling files count only by state and folder, as in `status`. */
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
