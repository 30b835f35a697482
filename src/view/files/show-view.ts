import { printedName } from '../../ledger/view.ts';
import type { HistoryLine, HistoryRows } from '../../ledger/history.ts';
import type { LineRows } from '../../ledger/queues.ts';
import type { LedgerView } from '../../ledger/view.ts';
import { suspectsOf as tokensOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { viewsOf } from './file-view.ts';
import type { FileView, OfFleet } from './file-view.ts';
import { settlingView } from './files-view.ts';
import type { ListedDaemon, SettlingView } from './files-view.ts';
import { spansOf } from './spans.ts';
import type { Span } from './spans.ts';

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
  daemon: ListedDaemon | null,
  name: string,
): Promise<FoundView> {
  const found = await showAll(ledger, daemon, await ledger.find(name));
  return { v: 1, found, settling: settlingNamed(daemon, name) };
}

export async function showAll(
  ledger: LineRows & Pick<HistoryRows, 'history'> & OfFleet,
  daemon: ListedDaemon | null,
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
function settlingNamed(daemon: ListedDaemon | null, name: string): readonly SettlingView[] {
  const printed = printedName(name);
  const isNamed = (path: string): boolean =>
    path === name || path.endsWith(name.startsWith('/') ? name : `/${name}`) || printed?.isOf(path) === true;
  return (daemon?.folders.settling() ?? []).map(settlingView).filter(({ path }) => isNamed(path));
}
