import type { FolderConfig } from '../config/config.ts';
import { compareChecksums } from '../pipeline/file/checksums.ts';
import { isGivenUp, mayHaveArrived, newFacts, stateOf } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { differentFrom, unconfirmedCode } from '../pipeline/file/failure.ts';
import { grewInPlace, isSameVersion, looksTheSame } from '../pipeline/file/file-version.ts';
import { AlreadyKnownError } from '../pipeline/file/ports.ts';
import type { Answer, Clock, FileStore, IntakeStore, LocalFiles } from '../pipeline/file/ports.ts';
import {
  channelRefusal,
  isClosedDirectory,
  isHeldUnread,
  isIgnored,
  leftFromBefore,
  wasThereBefore,
} from '../pipeline/file/reasons.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import type { Applied, Runner } from '../pipeline/steps/runner.ts';
import type { Route } from '../routing/plan.ts';
import type { ClosedDirectory } from '../watch/ports.ts';
import type { Arrival } from './arrival.ts';
import { closedDirectory, heldFor, holdOf, rerouted, returned, wasSent } from './reroute.ts';
import { onReturn } from './stopped-files.ts';

interface IntakeWorld {
  readonly store: Pick<IntakeStore, 'atPath' | 'atLocation'> & Pick<FileStore, 'load'>;
  readonly rows: Pick<Rows, 'claim' | 'insert'>;
  readonly local: Pick<LocalFiles, 'hash' | 'checksums'>;
  readonly runner: Pick<Runner, 'apply'>;
  readonly clock: Clock;
  newId(): string;
  /** Whether an entry is still at this path. Distinguishes renames from hard links. */
  exists(folder: string, path: string): Promise<boolean>;
}

export type Accepted =
  | 'new'
  | 'known'
  | 'returned'
  | 'renamed'
  | 'touched'
  | 'changed'
  | 'ignored'
  | 'rerouted'
  | 'busy'
  /** The file existed before dropcast watched the folder, and `existing` ignores such files. */
  | 'left'
  /** Only the file's content decides, so `compare` must read it. */
  | 'unread';

export type Intake = ReturnType<typeof createIntake>;

/**
 * Creates the intake that turns complete files into rows. It decides whether a file is new, known, renamed or changed,
 * and writes the row.
 *
 * @param world.newId creates the id of a new row
 */
export function createIntake(world: IntakeWorld) {
  const accepting = new Set<string>();
  /** Takes one arrival per path at a time: the watcher, `dropcast add` and a comparison may offer the same file. */
  const alone = async (arrival: Arrival, read: Read | null): Promise<Accepted> => {
    const place = `${arrival.folder}\0${arrival.path}`;
    if (accepting.has(place)) return 'busy';
    accepting.add(place);
    try {
      return await takeOnce(arrival, { ...world, read });
    } finally {
      accepting.delete(place);
    }
  };
  return {
    /**
     * Accepts a complete file. Idempotent. `busy`: a step is working on the file; offer it again later. `unread`:
     * nothing was decided.
     */
    accept: (arrival: Arrival): Promise<Accepted> => alone(arrival, null),
    /** Reads a file that `accept` left unread, and decides. `unread`: not possible now, or the signal was aborted. */
    compare: (arrival: Arrival, signal: AbortSignal): Promise<Accepted> =>
      alone(arrival, (facts) => world.local.hash(facts, signal)),
    /** Inserts a held row for a directory that dropcast may not open, so that lists of held files show it. */
    closed: (directory: ClosedDirectory, folder: Pick<FolderConfig, 'onDuplicate' | 'afterReady'>): Promise<void> =>
      closed(directory, folder, world),
    /** Applies a new route to a known file, after its sidecar, its checksum or the configuration changed. */
    reroute: async (facts: Facts, route: Route): Promise<Accepted> => {
      const news = facts.lastFailure?.kind === 'mismatch' ? await checksumNews(facts, world) : null;
      return news ?? reroute(facts, route, world);
    },
    /** Records that a path no longer exists. `busy`: a step is working on the file; report it again later. */
    gone: async (folder: string, path: string): Promise<Applied> => {
      const facts = await world.store.atPath(folder, path);
      return facts === null ? 'ignored' : world.runner.apply(facts.id, { type: 'FILE_GONE' });
    },
  };
}

interface TakeWorld extends IntakeWorld {
  /** Null if files may not be read now. */
  readonly read: Read | null;
}

/** Retries once if the row already exists: another host with the same folder may have inserted it first. */
async function takeOnce(arrival: Arrival, world: TakeWorld): Promise<Accepted> {
  try {
    return await take(arrival, world);
  } catch (error) {
    if (!(error instanceof AlreadyKnownError)) throw error;
    return take(arrival, world);
  }
}

async function closed(
  { folder, path, version, why }: ClosedDirectory,
  { onDuplicate, afterReady }: Pick<FolderConfig, 'onDuplicate' | 'afterReady'>,
  world: IntakeWorld,
): Promise<void> {
  const here = await world.store.atPath(folder, path);
  const discoveredAt = world.clock.now();
  const held = heldFor(closedDirectory(why), discoveredAt);
  if (here !== null && isClosedDirectory(here)) {
    // The directory was open or missing in the meantime.
    await patch(here, (now) => (stateOf(now) === 'vanished' ? { ...held, version } : {}), why, world);
  } else if (here === null || !isOnDisk(here)) {
    const id = world.newId();
    const seen = { id, folder, path, version, sourceUrl: null, plan: null, onDuplicate, afterReady, discoveredAt };
    await world.rows.insert({ ...newFacts(seen), ...held });
  }
}

async function take(arrival: Arrival, world: TakeWorld): Promise<Accepted> {
  const { store } = world;
  const here = unlessSuperseded(await store.atPath(arrival.folder, arrival.path));
  if (here !== null && looksTheSame(here.version, arrival.version)) return meet(here, arrival, world);
  const same = await store.atLocation(arrival.version);
  if (same !== null && isAt(same, arrival)) return meet(same, arrival, world);
  if (same !== null && (isSamePath(same, arrival) || !(await world.exists(same.folder, same.path))))
    return moved(same, here, arrival, world);
  if (here !== null && isOnDisk(here)) return changed(here, arrival, world);
  await add(arrival, world);
  return arrival.leaving === null ? 'new' : 'left';
}

/** Ignores the row of a superseded version, so that the file at its path is accepted as new. */
function unlessSuperseded(facts: Facts | null): Facts | null {
  return facts !== null && stateOf(facts) === 'superseded' ? null : facts;
}

/** Handles a file whose path, size and modification time match a row. */
async function meet(facts: Facts, arrival: Arrival, world: TakeWorld): Promise<Accepted> {
  if (stateOf(facts) === 'vanished') return judgeAnew(facts, arrival, 'the file is there again', world);
  if (arrival.isUnreadable === true) return holdUnread(facts, arrival, world);
  if (isHeldUnread(facts)) return judgeAnew(facts, arrival, 'dropcast may read the file now', world);
  if (isSameVersion(facts.version, arrival.version)) return known(facts, arrival, world);
  if (!mayTakeOver(facts, arrival)) return changed(facts, arrival, world);
  const now = await patch(
    facts,
    (now) => ({ version: mayTakeOver(now, arrival) ? arrival.version : now.version }),
    undefined,
    world,
  );
  if (now === null || !isSameVersion(now.version, arrival.version)) return 'busy';
  // The file may have been repaired in place and its timestamps restored.
  return now.lastFailure?.kind === 'mismatch' ? tryAgain(now, world) : known(now, arrival, world);
}

/**
 * Handles an unchanged file. A sent file keeps its metadata when renamed or put away; only a sidecar changes it,
 * through `reroute`.
 */
async function known(facts: Facts, arrival: Arrival, world: IntakeWorld): Promise<Accepted> {
  const { route, isWanted } = arrival;
  if (isToAdopt(facts) && arrival.flaw !== null) return holdFlawed(facts, arrival, world);
  if (isWanted && (wasThereBefore(facts) || isIgnored(facts))) {
    if ((await reroute(facts, route, world)) === 'busy') return 'busy';
    return (await world.runner.apply(facts.id, { type: 'RETRY' })) === 'busy' ? 'busy' : 'returned';
  }
  if ((await goOn(facts, world)) === 'busy') return 'busy';
  return wasSent(facts) ? 'known' : reroute(facts, route, world);
}

/** Resumes a file that failed or was suspended because of the local disk, now that it is at its path. */
async function goOn(facts: Facts, { runner }: Pick<IntakeWorld, 'runner'>): Promise<Applied> {
  const event = onReturn(facts);
  return event === null ? 'ignored' : runner.apply(facts.id, event);
}

/**
 * Holds a flawed file that existed before dropcast watched the folder and got its row before it settled. A flawed file
 * cannot be on the service, so adopting it would upload it.
 */
async function holdFlawed(facts: Facts, arrival: Arrival, world: IntakeWorld): Promise<Accepted> {
  const failure = holdOf(arrival);
  const change = (now: Facts): Partial<Facts> =>
    failure !== null && isToAdopt(now) ? heldFor(failure, world.clock.now()) : {};
  return (await patch(facts, change, failure?.message, world)) === null ? 'busy' : 'rerouted';
}

function isToAdopt(facts: Facts): boolean {
  return facts.end === 'held' && wasThereBefore(facts);
}

/**
 * Whether a row may adopt the file's current version without a comparison. It may if no complete content was sent,
 * because the upload will send the current version. A row that is waiting for a person keeps waiting, unless the file
 * is no longer flawed.
 */
function mayTakeOver(facts: Facts, { flaw }: Arrival): boolean {
  // Such a file was never read. Without this, a chmod of the whole folder would make all its files new.
  if (isUnread(facts) || isIgnored(facts)) return true;
  const { end, sha256, sourceUrl, lastFailure, why } = facts;
  const isAsFlawed = flaw === (lastFailure?.code === 'flawed' ? why : null);
  const isUnsent = sha256 === null && sourceUrl === null;
  return isAsFlawed && isUnsent && (end === null || end === 'failed' || end === 'held');
}

/** Whether the file was ignored, or matched with a video on the service, without its content being read. */
function isUnread(facts: Facts): boolean {
  return wasThereBefore(facts) || (facts.end === 'done' && facts.sha256 === null && facts.sourceUrl === null);
}

/** Decides again about a file that was missing or unreadable. */
async function judgeAnew(facts: Facts, arrival: Arrival, note: string, world: IntakeWorld): Promise<Accepted> {
  const at = world.clock.now();
  const change = (now: Facts): Facts =>
    stateOf(now) === 'vanished' || isHeldUnread(now)
      ? { ...returned(now, arrival, at), version: arrival.version }
      : now;
  return (await patch(facts, change, note, world)) === null ? 'busy' : 'returned';
}

/**
 * Holds a file that became unreadable after intake. A file that may have been sent completely is left alone; a step
 * that still needs it will fail.
 */
async function holdUnread(facts: Facts, arrival: Arrival, world: IntakeWorld): Promise<Accepted> {
  const failure = holdOf(arrival);
  const isOnItsWay = (now: Facts): boolean => now.end === null && !mayHaveArrived(now);
  const change = (now: Facts): Partial<Facts> =>
    failure !== null && isOnItsWay(now)
      ? { ...heldFor(failure, world.clock.now()), notBefore: null, version: arrival.version }
      : {};
  if (!isOnItsWay(facts)) return 'known';
  return (await patch(facts, change, failure?.message, world)) === null ? 'busy' : 'rerouted';
}

/** Handles a file with a new path. A rename changes the inode time, so `meet` decides if the content is the same. */
async function moved(facts: Facts, over: Facts | null, arrival: Arrival, world: TakeWorld): Promise<Accepted> {
  // The file that was replaced no longer exists.
  if (over !== null && (await world.runner.apply(over.id, { type: 'FILE_CHANGED' })) === 'busy') return 'busy';
  const { folder, path } = arrival;
  const change = ({ disposal }: Facts): Partial<Facts> => ({
    folder,
    path,
    // Renamed after `done`, by us just before a crash or by a person, so nothing is left to put away. A planned
    // deletion still applies.
    disposal: disposal === null || disposal === 'kept' || disposal === 'later' ? disposal : 'moved',
  });
  const now = await patch(facts, change, `renamed from ${facts.path}`, world);
  if (now === null) return 'busy';
  const met = await meet(now, arrival, world);
  return met === 'busy' || met === 'unread' ? met : 'renamed';
}

/** Handles another version at the same path, or one whose content must be compared. */
async function changed(facts: Facts, arrival: Arrival, world: TakeWorld): Promise<Accepted> {
  if (facts.uploadedAt !== null && arrival.onChange === 'ignore')
    return keep(facts, arrival, { as: 'ignored', note: 'changed on disk; ignored' }, world);
  const content = await compareContent(facts, arrival, world);
  if (content === 'unread') return 'unread';
  if (content === 'same') return keep(facts, arrival, { as: 'touched', note: 'touched, same content' }, world);
  const hasGrown = grewInPlace(facts.version, arrival.version);
  if ((await world.runner.apply(facts.id, { type: 'FILE_CHANGED', hasGrown })) === 'busy') return 'busy';
  await add(arrival, world, facts.id);
  return 'changed';
}

/**
 * Lets a row adopt another version of its file. `busy` if another worker holds the row or if the row was given up:
 * hashing takes minutes, and a step may have noticed the change in the meantime.
 */
async function keep(
  facts: Facts,
  { version }: Arrival,
  { as, note }: { readonly as: Accepted; readonly note: string },
  world: IntakeWorld,
): Promise<Accepted> {
  const { runner } = world;
  // A chmod of a whole folder must not flood the log and the history of each file.
  const isNews = !looksTheSame(facts.version, version);
  const change = (now: Facts): Partial<Facts> => {
    if (isGivenUp(now)) return {};
    // A touched file is still in use, so it is not deleted later.
    return isNews && now.disposal === 'later' ? { version, disposal: 'kept', why: keptBecauseTouched } : { version };
  };
  const now = await patch(facts, change, isNews ? note : undefined, world);
  if (now === null || isGivenUp(now)) return 'busy';
  if (isBackAsSent(now)) await runner.apply(now.id, { type: 'RETRY' });
  else await goOn(now, world);
  return isNews ? as : 'known';
}

const keptBecauseTouched = 'kept: it was touched after it was done';

/** Whether the file failed only because the sent content could not be found. That content is back now. */
function isBackAsSent({ end, lastFailure }: Facts): boolean {
  return end === 'failed' && lastFailure?.code === unconfirmedCode;
}

async function reroute(facts: Facts, route: Route, world: IntakeWorld): Promise<Accepted> {
  const at = world.clock.now();
  const expected = rerouted(facts, route, at);
  if (expected === null) return 'known';
  const change = (now: Facts): Partial<Facts> => rerouted(now, route, at) ?? {};
  const refusal = channelRefusal({ plan: expected.plan ?? null });
  const note = refusal ?? 'rules or sidecar changed';
  return (await patch(facts, change, note, world)) === null ? 'busy' : 'rerouted';
}

async function add(arrival: Arrival, world: IntakeWorld, instead?: string): Promise<void> {
  const { folder, path, version, sourceUrl, route, onDuplicate, afterReady, owner } = arrival;
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
    owner,
    discoveredAt: now,
  };
  const { leaving } = arrival;
  const isLeft = leaving === 'ignore' || leaving === 'recorded';
  const failure = isLeft ? leftFromBefore[leaving] : holdOf(arrival);
  const end = isLeft ? ({ end: 'skipped' } as const) : {};
  await world.rows.insert({ ...newFacts(seen), ...(failure !== null && heldFor(failure, now)), ...end }, instead);
}

/** Writes a change to the current row. Returns null if another worker holds the row. */
async function patch(
  { id }: Facts,
  change: (now: Facts) => Partial<Facts>,
  note: string | undefined,
  { rows }: IntakeWorld,
): Promise<Facts | null> {
  return rows.claim(id, (row) => row.write(change(row.facts), note));
}

/** Applies a new, removed or corrected checksum to a file held because of its checksum. Null if this has no effect. */
async function checksumNews(facts: Facts, world: IntakeWorld): Promise<Accepted | null> {
  const said = await world.local.checksums(facts);
  const { digests } = facts.lastFailure ?? {};
  const verdict = said.ok && digests !== undefined ? compareChecksums(said.value, digests) : null;
  if (said.ok && verdict?.is !== 'different') return tryAgain(facts, world);
  const why = verdict?.is === 'different' && digests !== undefined ? differentFrom(verdict.checksum, digests) : null;
  if (why === null || why.message === facts.why) return null;
  const change = (now: Facts): Partial<Facts> =>
    stateOf(now) === 'held' && now.lastFailure?.kind === 'mismatch' ? { why: why.message, lastFailure: why } : {};
  return (await patch(facts, change, why.message, world)) === null ? 'busy' : 'rerouted';
}

/** Retries a file held because of its checksum. The file may be correct by now, so it is sent and compared again. */
async function tryAgain({ id }: Facts, { runner }: Pick<IntakeWorld, 'runner'>): Promise<Accepted> {
  return (await runner.apply(id, { type: 'RETRY' })) === 'busy' ? 'busy' : 'rerouted';
}

function isAt(facts: Facts, place: Pick<Facts, 'folder' | 'path'>): boolean {
  return facts.folder === place.folder && facts.path === place.path;
}

/** Whether two rows have the same path on disk but different watched folders, because nesting has changed. */
function isSamePath(one: Pick<Facts, 'folder' | 'path'>, other: Pick<Facts, 'folder' | 'path'>): boolean {
  return `${one.folder}/${one.path}` === `${other.folder}/${other.path}`;
}

/** Whether a row's file is still at its path. If not, the next file there is new, not a change. */
function isOnDisk(facts: Facts): boolean {
  return !isGivenUp(facts) && facts.disposal !== 'deleted';
}

/** Returns the SHA-256 (hex) of an accepted file. */
type Read = (facts: Facts) => Promise<Answer<string>>;

/** Compares a link's address, or otherwise the hash of the sent content. A new time alone does not mean new content. */
async function compareContent(
  facts: Facts,
  { version, sourceUrl, flaw }: Arrival,
  { read, store }: TakeWorld,
): Promise<'same' | 'other' | 'unread'> {
  if (facts.sourceUrl !== null) return facts.sourceUrl === sourceUrl && flaw === null ? 'same' : 'other';
  if (facts.version.size !== version.size) return 'other';
  const sent = facts.sha256 ?? (await twinOf(facts, store))?.sha256 ?? null;
  if (sent === null) return 'other';
  if (read === null) return 'unread';
  const hash = await read({ ...facts, version });
  if (!hash.ok) return 'unread';
  return hash.value === sent ? 'same' : 'other';
}

/** Returns the file that this one duplicated when it was skipped. */
async function twinOf({ end, lastFailure }: Facts, store: TakeWorld['store']): Promise<Facts | null> {
  return end === 'skipped' && lastFailure?.twin !== undefined ? store.load(lastFailure.twin) : null;
}
