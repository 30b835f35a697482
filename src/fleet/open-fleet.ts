import type { Rows } from '../daemon/state/open-state.ts';
import { channel, heardIn } from './postgres/connection.ts';
import { knownSchema } from './postgres/migrations.ts';
import { openSharedRows } from './postgres/open.ts';
import { openPool } from './postgres/pool.ts';
import type { PostgresPlace } from './postgres/client-config.ts';
import type { Outage } from './postgres/reachable.ts';
import type { Logger } from '../log/logger.ts';
import type { Clock } from '../pipeline/file/ports.ts';
import type { Member } from './hosts.ts';
import { openFoundPlaces, sharedOf } from './found-places.ts';
import type { FoundPlaces } from './found-places.ts';
import type { FleetConfig } from './doing.ts';
import { inPlaces } from './in-places.ts';
import { openJobQueue } from './job-queue.ts';
import type { JobQueue } from './job-queue.ts';
import { createLeases, createTurns } from './leases.ts';
import type { Leases } from './leases.ts';
import type { Heard } from './postgres/connection.ts';
import { openMember } from './open-member.ts';
import { createPlaces, openSharedFolders, toPlace } from './places.ts';
import type { SharedFolders } from './places.ts';
import { sharedBudget } from './shared-budget.ts';
import { shareInFleet } from './sharing.ts';

/** This host as a member of the fleet that shares a ledger on PostgreSQL. */
export type OpenFleet = Rows & AsyncDisposable;

export interface FleetWorld {
  readonly place: PostgresPlace;
  readonly stateDir: string;
  readonly hostName: string;
  readonly version: string;
  /** The current configuration, which a reload may change. */
  config(): FleetConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Reports a repair made after the ledger was opened. */
  repaired(what: string): void;
}

/**
 * Joins the fleet.
 *
 * @throws {LedgerError} if the database cannot be used, or another host has this name
 */
export async function openFleet(world: FleetWorld): Promise<OpenFleet> {
  const { place, stateDir, hostName, version, clock, logger } = world;
  await using stack = new AsyncDisposableStack();
  const pool = stack.use(await openPool(place, { hostName, outage: toldTo(logger) }));
  let member: Member | null = null;
  let ledgerId = '';
  let hear: Heard = () => undefined;
  const found: FoundPlaces = stack.use(
    await openFoundPlaces({
      self: hostName,
      stateDir,
      logger,
      folders: () => world.config().folders,
      ledger: () => ledgerId,
      known: () => member?.known() ?? [],
      changed: () => folders.look(),
    }),
  );
  const folders: SharedFolders = stack.use(
    await openSharedFolders(() => sharedOf(world.config().folders, found.all())),
  );
  const places = createPlaces(
    hostName,
    folders.now,
    (folder) => whoReads(folder, member),
    (folder) => found.whyUnproven(folder),
  );
  let leases: Leases | null = null;
  const rows = stack.use(
    await openSharedRows(pool, {
      place,
      stateDir,
      hostName,
      visible: places.visible,
      placed: toPlace(places),
      // No file is held before there are leases.
      fence: (ids) => leases?.fence(ids) ?? { text: 'select null as id where false', values: [] },
      repaired: world.repaired,
      settles: (why) => logger.warn('Taking no new work for the moment', { why }),
      moved: () => hear('moved'),
    }),
  );
  ledgerId = rows.id;
  member = stack.use(
    await openMember(pool, {
      stateDir,
      name: hostName,
      version,
      schema: knownSchema,
      clock,
      logger,
      waits: (sentence) => logger.warn(sentence),
      found,
    }),
  );
  const queueOf = async (name: 'file' | 'turn'): Promise<JobQueue> =>
    stack.use(
      await openJobQueue({
        pool,
        name,
        hostName,
        elapsed: () => clock.elapsed(),
        broke: (err) => logger.warn('pg-boss failed', { err }),
      }),
    );
  leases = stack.use(createLeases({ pool, queue: await queueOf('file'), clock, load: rows.load }));
  const { mayTake } = member;
  const turn = stack.use(
    createTurns({
      pool,
      queue: await queueOf('turn'),
      clock,
      mayTake: () => mayTake.call(member),
      won: () => hear('turn'),
      broke: (err) => logger.debug('Cannot request the turn', { err }),
    }),
  );
  stack.use(
    pool.listen(channel, (payload) => {
      const what = heardIn(payload, hostName);
      if (what !== null) hear(what);
    }),
  );
  const budget = sharedBudget(pool.rows, () => clock.elapsed());
  const { claim } = leases;
  const ledger = inPlaces(
    {
      ...rows,
      claim: (id) => claim.call(leases, id),
      budget: { load: async () => (await budget.load()).window, save: async () => undefined },
    },
    places,
  );
  const sharing = shareInFleet({
    member,
    places,
    turn,
    clock,
    logger,
    config: world.config,
    listen: (heard) => {
      hear = heard;
    },
  });
  const marks = {
    placeOf: places.placeOf,
    whyUnproven: places.whyUnproven,
    watched: () => world.config().folders.map(({ path }) => places.placeOf(path)),
  };
  const parts = stack.move();
  return {
    ledger,
    budget,
    marks,
    sharing,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Logs the start and the end of an outage. Failures in between add no information. */
function toldTo(logger: Logger): Outage {
  return {
    began: (why) =>
      logger.warn('PostgreSQL does not answer: uploads in flight continue, everything else waits', { why }),
    ended: (since) => logger.info('PostgreSQL answers again', { awaySince: new Date(since).toISOString() }),
  };
}

/** Returns a sentence that names the hosts that can read a folder. */
function whoReads(folder: string, member: Member | null): string {
  const hosts = member?.known().filter(({ doing }) => doing.places.includes(folder)) ?? [];
  const [owner = folder] = folder.split(':');
  if (hosts.length === 0) return `only ${owner} can read this folder`;
  return `only ${hosts.map(({ name }) => name).join(', ')} can read this folder`;
}
