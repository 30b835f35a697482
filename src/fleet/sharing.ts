import { setTimeout as delay } from 'node:timers/promises';
import type { Shared, SharedParts, Sharing } from '../daemon/state/sharing.ts';
import type { Logger } from '../log/logger.ts';
import type { Clock, Turn } from '../pipeline/file/ports.ts';
import { workerOf } from '../view/hosts/host-view.ts';
import { ofAllHosts, doingOf } from './doing.ts';
import { Contents } from './contents.ts';
import type { FleetConfig } from './doing.ts';
import type { Heard } from './postgres/connection.ts';
import { createHostNews } from './hosts.ts';
import type { Member } from './hosts.ts';
import { lastKnown, lastKnownHosts } from './last-known.ts';
import type { Places } from './places.ts';
import type { FleetView } from '../view/hosts/fleet-view.ts';
import type { HistoryRows, Passage } from '../ledger/history.ts';
import type { Events } from '../pipeline/events.ts';
import type { RowStore } from '../pipeline/file/row-groups.ts';
import { knownStates } from '../view/stages.ts';

interface SharingWorld {
  readonly member: Member;
  readonly places: Places;
  readonly turn: Turn;
  config(): FleetConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Registers a callback for signals from other hosts. PostgreSQL may lose a signal. */
  listen(heard: Heard): void;
}

/** Connects this host to the other hosts of its fleet. */
export function shareInFleet(world: SharingWorld): Sharing {
  const { member, places, turn, logger, clock } = world;
  let contents: Contents | null = null;
  return {
    signal: () => turn.signal(),
    mayTake: () => member.mayTake(),
    whyNotHere: places.whyNotHere,
    elsewhere: (reader) => {
      const asked = new Contents({
        ...reader,
        fleet: member,
        logger,
        clock,
        isHere: places.isHere,
        tell: () => member.tell(),
      });
      contents = asked;
      return {
        isHeld: (id) => workerOf(member, id) !== null,
        hashOf: (facts, signal) => asked.hashOf(facts, signal),
      };
    },
    join: (parts) => joined(world, parts, contents),
  };
}

async function joined(world: SharingWorld, parts: SharedParts, contents: Contents | null): Promise<Shared> {
  const { member, places, turn, clock, logger } = world;
  const { conductor, events } = parts;
  await using stack = new AsyncDisposableStack();
  stack.use(contents);
  const rowsElsewhere = stack.use(followRowsElsewhere({ ledger: parts.ledger, fleet: member, events, logger }));
  await rowsElsewhere.start();
  world.listen((what) => {
    if (what === 'budget') return parts.gate.changedElsewhere();
    if (what === 'hosts') return void readHosts(member, contents);
    if (what === 'moved') parts.folders.findLostRows();
    conductor.wake();
    return rowsElsewhere.look();
  });
  const rest = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });
  const away = { clock, whyAway: () => member.whyAway(), rest };
  const { rows, conductor: conductorOfAll, messageTargets } = ofAllHosts({ ...parts, turn }, member);
  const owned = stack.move();
  return {
    ledger: lastKnown(parts.ledger, away),
    rows,
    conductor: conductorOfAll,
    messageTargets,
    fleet: lastKnownHosts(member, away),
    reports: (folder) => turn.signal() !== null || !places.isShared(folder),
    start: (expectations) => {
      const told = createHostNews(member, parts.news);
      let couldTake = member.mayTake();
      member.start(
        () => doingOf({ ...parts, turn, contents, expectations }, world.config(), places.placeOf),
        () => {
          told();
          contents?.look();
          // A signal may have been lost.
          rowsElsewhere.look();
          // Continues only if this host was drained, or may take files again.
          if (couldTake === member.mayTake()) return;
          couldTake = member.mayTake();
          conductor.wake();
        },
      );
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Reads the host rows early. A failure is ignored: each member reads them every few seconds anyway. */
async function readHosts(member: Member, contents: Contents | null): Promise<void> {
  await member.hosts().then(
    () => contents?.look(),
    () => undefined,
  );
}

interface RowsElsewhereWorld {
  readonly ledger: RowStore<'any'> & HistoryRows;
  readonly fleet: Pick<FleetView, 'self' | 'hostsOf' | 'awaySince'>;
  readonly events: Events;
  readonly logger: Logger;
}

/**
 * Emits events on this host for rows that other hosts have written. Without these events, views would be out of date.
 */
interface RowsElsewhere extends AsyncDisposable {
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
    for (const facts of await ledger.rows({ group: 'any', where: { ids } })) {
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
