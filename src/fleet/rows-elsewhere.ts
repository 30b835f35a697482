import type { FleetView } from '../view/hosts/fleet-view.ts';
import type { HistoryRows, Passage } from '../ledger/history.ts';
import type { Logger } from '../log/logger.ts';
import type { Events } from '../pipeline/events.ts';
import type { RowStore } from '../pipeline/file/row-groups.ts';
import { knownStates } from '../view/stages.ts';

export interface RowsElsewhereWorld {
  readonly ledger: RowStore<'by id'> & HistoryRows;
  readonly fleet: Pick<FleetView, 'self' | 'hostsOf' | 'awaySince'>;
  readonly events: Events;
  readonly logger: Logger;
}

/**
 * Emits events on this host for rows that other hosts have written. Without these events, views would be out of date.
 */
export interface RowsElsewhere extends AsyncDisposable {
  /**
   * Starts at the newest history line. Read existing rows only after this resolves, so that no change is missed.
   *
   * @throws {LedgerUnavailableError}
   */
  start(): Promise<void>;
  /** Schedules a read, because there may be new rows. */
  look(): void;
}

/**
 * Delay between a signal and the read, in milliseconds. Signals during the delay share one read, so each host sends
 * only a few statements.
 */
const leastMs = 1_000;

/** History lines per query. */
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
      // A database that lost its last lines assigns their numbers again.
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
        // After an error, the next signal or heartbeat reads again.
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
