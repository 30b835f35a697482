import { newFacts, stateOf } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { isSameVersion } from '../pipeline/file/file-version.ts';
import type { Clock, IntakeStore, LocalFiles } from '../pipeline/file/ports.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import type { Runner } from '../pipeline/steps/runner.ts';
import type { Route } from '../routing/plan.ts';
import type { Arrival } from './arrival.ts';
import { heldFor, holdOf, rerouted, returned, wasSent } from './reroute.ts';

export interface IntakeWorld {
  readonly store: Pick<IntakeStore, 'atPath' | 'atLocation'>;
  readonly rows: Pick<Rows, 'hold' | 'insert'>;
  readonly local: Pick<LocalFiles, 'hash'>;
  readonly runner: Pick<Runner, 'apply'>;
  readonly clock: Clock;
  newId(): string;
  /** Whether something is still at this place: tells a rename from a hard link. */
  exists(folder: string, path: string): Promise<boolean>;
}

/** What an arrival was. */
export type Accepted =
  | 'new'
  | 'known'
  | 'returned'
  | 'renamed'
  | 'touched'
  | 'changed'
  | 'ignored'
  | 'rerouted'
  | 'busy';

export interface Intake {
  /** Takes in a complete file. Repeating it changes nothing. `busy`: a step works on that file, offer it again later. */
  accept(arrival: Arrival): Promise<Accepted>;
  /** The path no longer exists. */
  gone(folder: string, path: string): Promise<void>;
  /** The route of a known file changed: a new or altered sidecar, or another configuration. */
  reroute(facts: Facts, route: Route): Promise<Accepted>;
}

/**
 * Turns complete files into rows: decides whether a file is new, known, renamed, changed … and writes that.
 *
 * @param world.newId makes the id of a new row
 */
export function createIntake(world: IntakeWorld): Intake {
  const accepting = new Set<string>();
  return {
    reroute: (facts, route) => reroute(facts, route, world),
    accept: async (arrival) => {
      // The watcher and `dropcast add` may offer the same file at the same time.
      const place = `${arrival.folder}\0${arrival.path}`;
      if (accepting.has(place)) return 'busy';
      accepting.add(place);
      try {
        return await take(arrival, world);
      } finally {
        accepting.delete(place);
      }
    },
    gone: async (folder, path) => {
      const facts = await world.store.atPath(folder, path);
      if (facts !== null) await world.runner.apply(facts.id, { type: 'FILE_GONE' });
    },
  };
}

async function take(arrival: Arrival, world: IntakeWorld): Promise<Accepted> {
  const { store } = world;
  const here = await store.atPath(arrival.folder, arrival.path);
  if (here !== null && isSameVersion(here.version, arrival.version)) return meet(here, arrival, world);
  const same = await store.atLocation(arrival.version);
  if (same !== null && isAt(same, arrival)) return meet(same, arrival, world);
  if (same !== null && (isSamePlace(same, arrival) || !(await world.exists(same.folder, same.path))))
    return moved(same, here, arrival, world);
  if (here !== null && isOnDisk(here)) return changed(here, arrival, world);
  await add(arrival, world);
  return 'new';
}

/** The same version at the same place. */
async function meet(facts: Facts, arrival: Arrival, world: IntakeWorld): Promise<Accepted> {
  // What was sent keeps its metadata when the file is renamed or put away; only a sidecar changes it, by `reroute`.
  if (stateOf(facts) !== 'vanished') return wasSent(facts) ? 'known' : reroute(facts, arrival.route, world);
  const at = world.clock.now();
  const change = (now: Facts): Facts => (stateOf(now) === 'vanished' ? returned(now, arrival, at) : now);
  return (await patch(facts, change, 'the file is there again', world)) === null ? 'busy' : 'returned';
}

/** The same version, which was at another place before. */
async function moved(facts: Facts, over: Facts | null, arrival: Arrival, world: IntakeWorld): Promise<Accepted> {
  // The file it was moved over no longer exists.
  if (over !== null && (await world.runner.apply(over.id, { type: 'FILE_CHANGED' })) === 'busy') return 'busy';
  const { folder, path, version } = arrival;
  const change = ({ disposal }: Facts): Partial<Facts> => ({
    folder,
    path,
    version,
    // Moved after `done`, by us just before a crash or by a person: nothing is left to put away.
    disposal: disposal === null || disposal === 'kept' ? disposal : 'moved',
  });
  const now = await patch(facts, change, `renamed from ${facts.path}`, world);
  if (now === null) return 'busy';
  return (await meet(now, arrival, world)) === 'busy' ? 'busy' : 'renamed';
}

/** Another version at the same place. */
async function changed(facts: Facts, arrival: Arrival, world: IntakeWorld): Promise<Accepted> {
  if (facts.uploadedAt !== null && arrival.onChange === 'ignore')
    return (await keep(facts, arrival, 'changed on disk; ignored', world)) ? 'ignored' : 'busy';
  if (await isTouched(facts, arrival, world))
    return (await keep(facts, arrival, 'touched, same content', world)) ? 'touched' : 'busy';
  if ((await world.runner.apply(facts.id, { type: 'FILE_CHANGED' })) === 'busy') return 'busy';
  await add(arrival, world);
  return 'changed';
}

/**
 * Lets a row stand for another version of its file. False when somebody else holds the row, or when it no longer stands for the file:
 * hashing takes minutes, and a step may have found the change meanwhile.
 */
async function keep(facts: Facts, { version }: Arrival, note: string, world: IntakeWorld): Promise<boolean> {
  const now = await patch(facts, (current) => (isOnDisk(current) ? { version } : {}), note, world);
  return now !== null && isOnDisk(now);
}

/** A new time of change alone is no new content: the hash tells. */
async function isTouched(facts: Facts, { version }: Arrival, { local }: IntakeWorld): Promise<boolean> {
  if (facts.sha256 === null || facts.version.size !== version.size) return false;
  const hash = await local.hash({ ...facts, version }, new AbortController().signal);
  return hash.ok && hash.value === facts.sha256;
}

async function reroute(facts: Facts, route: Route, world: IntakeWorld): Promise<Accepted> {
  const at = world.clock.now();
  const expected = rerouted(facts, route, at);
  if (expected === null) return 'known';
  // Rows of version 0.1.0 only get the code of what holds them: that is nothing for their history.
  const isNews = expected.plan !== undefined || expected.why !== facts.why;
  const change = (now: Facts): Partial<Facts> => rerouted(now, route, at) ?? {};
  const note = isNews ? 'rules or sidecar changed' : undefined;
  return (await patch(facts, change, note, world)) === null ? 'busy' : 'rerouted';
}

async function add({ folder, path, version, sourceUrl, ...arrival }: Arrival, world: IntakeWorld): Promise<void> {
  const { route, onDuplicate, afterReady } = arrival;
  const plan = route.kind === 'take' ? route.plan : null;
  const now = world.clock.now();
  const seen = {
    id: world.newId(),
    folder,
    path,
    version,
    sourceUrl,
    plan,
    onDuplicate,
    afterReady,
    discoveredAt: now,
  };
  const failure = holdOf(arrival);
  await world.rows.insert({ ...newFacts(seen), ...(failure !== null && heldFor(failure, now)) });
}

/** Writes what the row as it is now has to change. Null when somebody else holds the row. */
async function patch(
  { id }: Facts,
  change: (now: Facts) => Partial<Facts>,
  note: string | undefined,
  { rows }: IntakeWorld,
): Promise<Facts | null> {
  return rows.hold(id, (row) => row.write(change(row.facts), note));
}

function isAt(facts: Facts, place: Pick<Facts, 'folder' | 'path'>): boolean {
  return facts.folder === place.folder && facts.path === place.path;
}

/** The same file on disk, seen from another watched folder because the folders were nested differently before. */
function isSamePlace(one: Pick<Facts, 'folder' | 'path'>, other: Pick<Facts, 'folder' | 'path'>): boolean {
  return `${one.folder}/${one.path}` === `${other.folder}/${other.path}`;
}

/** Whether a row still stands for a file at its path. If not, the next file of that name is new, not a change of this one. */
function isOnDisk(facts: Facts): boolean {
  const state = stateOf(facts);
  return state !== 'superseded' && state !== 'vanished' && facts.disposal !== 'deleted';
}
