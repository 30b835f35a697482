import type { LedgerView } from '../ledger/view.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import { bigBytes } from '../pipeline/file/queue.ts';
import type { Daemon } from './daemon.ts';

/** How many files of its queue are before each that waits for a lane, by id. */
export type Places = ReadonlyMap<string, number>;

/** Files whose place is looked up for one view: it shows more of them than anybody reads. */
const mostPlaces = 100;

/** More are not counted. */
const mostBefore = 1_000;

export async function placesOf(ledger: Pick<LedgerView, 'before'>, files: readonly Facts[]): Promise<Places> {
  const inLine = files.filter((facts) => ['queued', 'awaiting upload'].includes(stateOf(facts)));
  return inLine.length === 0
    ? new Map()
    : ledger.before(
        inLine.slice(0, mostPlaces).map(({ id }) => id),
        mostBefore,
      );
}

/** Why a file waits for a lane although the budget and the hosts would let it go; null when nothing more is known. */
export function whyInLine(daemon: Daemon, facts: Facts, places: Places): string | null {
  const why = daemon.conductor.noSlot(facts);
  const { folders, uploads } = daemon.config();
  if (why === 'folder') {
    const most = folders.find(({ path }) => path === facts.folder)?.uploads ?? 0;
    return `its folder already has ${most === 1 ? '1 upload' : `${most} uploads`}`;
  }
  if (why === 'kept for small' && uploads.concurrency > 1)
    return `waiting for an upload slot: of ${uploads.concurrency}, at least one is kept for files of up to ${bigBytes / 1024 ** 2} MiB`;
  const before = places.get(facts.id) ?? 0;
  if (before === 0) return null;
  if (before === 1) return '1 file of its folder is before it';
  return `${before >= mostBefore ? 'more than 1,000' : before} files of its folder are before it`;
}
