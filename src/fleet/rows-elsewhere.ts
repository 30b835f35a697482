import type { FleetView } from '../view/hosts/fleet-view.ts';
import type { HistoryRows, Passage } from '../ledger/history.ts';
import type { Logger } from '../log/logger.ts';
import type { Events } from '../pipeline/events.ts';
import type { RowStore } from '../pipeline/file/row-groups.ts';
import { knownStates } from '../view/files/known-states.ts';

export interface RowsElsewhereWorld {
  readonly ledger: RowStore<'by id'> & HistoryRows;
  readonly fleet: Pick<FleetView, 'self' | 'hostsOf' | 'awaySince'>;
  readonly events: Events;
  readonly logger: Logger;
}

/** Emits events on this host for rows that others have written: without them, views would stay out of date. */
export interface RowsElsewhere extends AsyncDisposable {
  /** Starts from here. Resolves when earlier rows may be read. @throws {LedgerUnavailableError} */
  start(): Promise<void>;
  /** There may be something new, so it reads soon. */
  look(): void;
}

/** However many signals arrive, the views are no older than this, and cost each host a few statements. */
const leastMs = 1_000;

/** Lines of the history that one query reads. */
const mostLines = 1_000;

export function followRowsElsewhere({ ledger, fleet, events, logger }: RowsElsewhereWorld): RowsElsewhere {
  let last: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();
  const closed = new AbortController();

  const tell = async (lines: readonly Passage[], after: number): Promise<void> => {
    const writers = await fleet.hostsOf([...new Set(lines.map(({ id }) => id))]);
    const elsewhere = lines.filter(({ id }) => writers.get(id) !== fleet.self);
    const byFile = Map.groupBy(elsewhere, ({ id }) => id);
    const ids = [...byFile.keys()];
    if (ids.length === 0) return;
    const before = await ledger.lastStates(ids, knownStates, after);
    for (const facts of await ledger.rows({ group: 'by id', ids })) {
      const passed = (byFile.get(facts.id) ?? []).map(({ at, state }) => ({ at, state }));
      events.emit({ type: 'elsewhere', facts, from: before.get(facts.id)?.state ?? null, passed });
    }
  };

  const lookOnce = async (): Promise<void> => {
    for (let isMore = true; isMore && !closed.signal.aborted && last !== null && fleet.awaySince() === null;) {
      const lines = await ledger.passages(last, knownStates, mostLines);
      isMore = lines.length === mostLines;
      await tell(lines, last);
      // A database that has lost its last lines gives their numbers again.
      last = lines.at(-1)?.seq ?? Math.min(last, await ledger.lastPassage());
    }
  };

  return {
    start: async () => {
      last = await ledger.lastPassage();
    },
    look: () => {
      if (closed.signal.aborted) return;
      timer ??= setTimeout(() => {
        timer = null;
        // After any error, the next signal or heartbeat reads again.
        looking = looking
          .then(lookOnce)
          .catch((err: unknown) => logger.debug('Cannot read the changes of other hosts', { err }));
      }, leastMs).unref();
    },
    [Symbol.asyncDispose]: async () => {
      closed.abort();
      if (timer !== null) clearTimeout(timer);
      await looking;
    },
  };
}
