import { setTimeout as delay } from 'node:timers/promises';
import type { Shared, SharedParts, Sharing } from '../daemon/state/sharing.ts';
import type { Logger } from '../log/logger.ts';
import type { Clock, Turn } from '../pipeline/file/ports.ts';
import { workerOf } from '../view/hosts/host-view.ts';
import { ofAllHosts, doingOf } from './doing.ts';
import { Contents } from './contents.ts';
import type { FleetConfig } from './doing.ts';
import type { Heard } from './hints.ts';
import { createHostNews } from './hosts.ts';
import type { Member } from './hosts.ts';
import { lastKnown, lastKnownHosts } from './last-known.ts';
import type { Places } from './places.ts';
import { followRowsElsewhere } from './rows-elsewhere.ts';

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
