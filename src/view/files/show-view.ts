import { printedName, type LedgerView } from '../../ledger/view.ts';
import type { HistoryLine, HistoryRows } from '../../ledger/history.ts';
import type { LineRows } from '../../ledger/queues.ts';
import { suspectsOf as tokensOf, type Facts } from '../../pipeline/file/facts.ts';
import { viewsOf, type FileView, type OfFleet } from './file-view.ts';
import type { ViewedDaemon } from '../viewed-daemon.ts';
import { settlingView, type SettlingView } from './files-view.ts';

/** Everything known about one file. */
export interface ShowView {
  readonly v: 1;
  readonly file: FileView;
  /** Duration of each step, in order. */
  readonly spans: readonly Span[];
  readonly history: readonly HistoryLine[];
  readonly suspects: number;
}

export interface FoundView {
  readonly v: 1;
  readonly found: readonly ShowView[];
  /** Settling files with this name: they have no row yet. */
  readonly settling: readonly SettlingView[];
}

export async function foundOf(
  ledger: Pick<LedgerView, 'find'> & LineRows & Pick<HistoryRows, 'history'> & OfFleet,
  daemon: ViewedDaemon | null,
  name: string,
): Promise<FoundView> {
  const found = await showAll(ledger, daemon, await ledger.find(name));
  return { v: 1, found, settling: settlingNamed(daemon, name) };
}

export async function showAll(
  ledger: LineRows & Pick<HistoryRows, 'history'> & OfFleet,
  daemon: ViewedDaemon | null,
  files: readonly Facts[],
): Promise<readonly ShowView[]> {
  const views = await viewsOf(ledger, daemon, files);
  return Promise.all(
    views.map(async (file, n) => {
      const facts = files[n] as Facts;
      return {
        v: 1,
        file,
        spans: spansOf(file, Date.now()),
        history: await ledger.history(facts.id),
        suspects: (daemon?.rows.isHeld(facts.id) === true ? facts.suspects : tokensOf(facts)).length,
      };
    }),
  );
}

/** Finds settling files by path, by file name, or by either as printed by `ls`. */
function settlingNamed(daemon: ViewedDaemon | null, name: string): readonly SettlingView[] {
  const printed = printedName(name);
  const isNamed = (path: string): boolean =>
    path === name || path.endsWith(name.startsWith('/') ? name : `/${name}`) || printed?.isOf(path) === true;
  return (daemon?.folders.settling() ?? []).map(settlingView).filter(({ path }) => isNamed(path));
}

/** One step in a file's life cycle. Times are epoch milliseconds. */
export interface Span {
  readonly step:
    | 'waiting for a record'
    | 'waiting for its upload'
    | 'uploading'
    | 'importing'
    | 'processing'
    | 'publishing';
  readonly started_at: number;
  /** Null while the step is running. */
  readonly ended_at: number | null;
  /** Until now if still running. Never negative, even if the clock was set back. */
  readonly duration_ms: number;
}

/** Returns how long each step of a file has taken so far. Pure. */
export function spansOf(file: FileView, now: number): readonly Span[] {
  const { discovered, created, upload_started: started, uploaded, ready, ended } = file.times;
  const isImport = file.source_url !== null;
  const marks: readonly (readonly [Span['step'], number | null, number | null])[] = [
    ['waiting for a record', discovered, created],
    ...(isImport
      ? [['importing', created, uploaded] as const]
      : [['waiting for its upload', created, started ?? uploaded] as const, ['uploading', started, uploaded] as const]),
    ['processing', uploaded, ready],
    ...(file.publish.length === 0 ? [] : [['publishing', ready, ended] as const]),
  ];
  return marks.flatMap(([step, from, to]) => {
    if (from === null) return [];
    // A file that ended early ended in the step it was in.
    const until = to ?? ended;
    return [{ step, started_at: from, ended_at: until, duration_ms: Math.max(0, (until ?? now) - from) }];
  });
}
