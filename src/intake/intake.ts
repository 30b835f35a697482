import { rearmed } from '../pipeline/file/reasons.ts';
import { isSameVersion } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { newFacts, stateOf, suspectsOf } from '../pipeline/file/facts.ts';
import type { Amendment, Facts } from '../pipeline/file/facts.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import type { Clock, FileStore, IntakeStore, LocalFiles } from '../pipeline/file/ports.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import type { Runner } from '../pipeline/steps/runner.ts';
import type { Plan, Route } from '../routing/plan.ts';
import type { AfterReady } from '../config/config.ts';

/** A complete file as the daemon hands it in: what it is, and where the rules say it goes. */
export interface Arrival {
  readonly folder: string;
  readonly path: string;
  readonly version: FileVersion;
  /** Complete as far as waiting can tell, but not to be sent. */
  readonly flaw: string | null;
  readonly sourceUrl: string | null;
  readonly route: Route;
  readonly onDuplicate: 'skip' | 'upload';
  readonly onChange: 'upload' | 'ignore';
  readonly afterReady: AfterReady;
}

export interface IntakeWorld {
  readonly store: FileStore & IntakeStore;
  readonly local: LocalFiles;
  readonly rows: Pick<Rows, 'hold' | 'insert'>;
  readonly runner: Pick<Runner, 'apply'>;
  readonly clock: Clock;
  newId(): string;
  /** Whether something is still at this place: tells a rename from a hard link. */
  exists(folder: string, path: string): Promise<boolean>;
}

/** What became of an arrival. */
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
  /** Takes a complete file in; repeating it changes nothing. `busy`: a step works on that file, offer it again later. */
  accept(arrival: Arrival): Promise<Accepted>;
  /** A path that is no longer there. */
  gone(folder: string, path: string): Promise<void>;
  /** The route of a known file changed: a new or altered sidecar, or another configuration. */
  reroute(facts: Facts, route: Route): Promise<Accepted>;
}

export function createIntake(world: IntakeWorld): Intake {
  const { store, runner } = world;

  const add = async (arrival: Arrival): Promise<void> => {
    await world.rows.insert(factsOf(arrival, world.newId(), world.clock.now()));
  };

  const met = async (facts: Facts, arrival: Arrival): Promise<Accepted> => {
    // What was sent keeps its metadata when the file is renamed or put away; only a sidecar changes it, by `reroute`.
    if (stateOf(facts) !== 'vanished') return wasSent(facts) ? 'known' : reroute(facts, arrival.route);
    const at = world.clock.now();
    const change = (now: Facts): Facts => (stateOf(now) === 'vanished' ? returned(now, arrival, at) : now);
    return patch(facts, change, 'the file is there again', 'returned');
  };

  const renamed = (facts: Facts, { folder, path, version }: Arrival): Promise<Accepted> =>
    patch(
      facts,
      // Moved after `done`, by us just before a crash or by a person: nothing is left to put away.
      (now) => ({
        ...now,
        folder,
        path,
        version,
        disposal: now.disposal === null || now.disposal === 'kept' ? now.disposal : 'moved',
      }),
      `renamed from ${facts.path}`,
      'renamed',
    );

  const patch = async (facts: Facts, change: (now: Facts) => Facts, note: string, done: Accepted): Promise<Accepted> =>
    (await world.rows.hold(facts.id, async (row) => {
      await row.write(change(row.facts), note);
      return done;
    })) ?? 'busy';

  const moved = async (facts: Facts, over: Facts | null, arrival: Arrival): Promise<Accepted> => {
    // What it was moved over is no more.
    if (over !== null && (await runner.apply(over.id, { type: 'FILE_CHANGED' })) === 'busy') return 'busy';
    const result = await renamed(facts, arrival);
    const now = result === 'renamed' ? await store.load(facts.id) : null;
    if (now === null) return result;
    return (await met(now, arrival)) === 'busy' ? 'busy' : 'renamed';
  };

  const changed = async (facts: Facts, arrival: Arrival): Promise<Accepted> => {
    if (facts.uploadedAt !== null && arrival.onChange === 'ignore') {
      return patch(facts, (now) => ({ ...now, version: arrival.version }), 'changed on disk, left as it is', 'ignored');
    }
    if (await isTouched(facts, arrival)) {
      return patch(facts, (now) => ({ ...now, version: arrival.version }), 'touched, same content', 'touched');
    }
    if ((await runner.apply(facts.id, { type: 'FILE_CHANGED' })) === 'busy') return 'busy';
    await add(arrival);
    return 'changed';
  };

  /** A new time of change alone is no new content: the hash tells. */
  const isTouched = async (facts: Facts, arrival: Arrival): Promise<boolean> => {
    if (facts.sha256 === null || facts.version.size !== arrival.version.size) return false;
    const hash = await world.local.hash({ ...facts, version: arrival.version }, new AbortController().signal);
    return hash.ok && hash.value === facts.sha256;
  };

  const reroute = async (facts: Facts, route: Route): Promise<Accepted> => {
    const at = world.clock.now();
    if (rerouted(facts, route, at) === null) return 'known';
    return patch(facts, (now) => ({ ...now, ...rerouted(now, route, at) }), 'rules or sidecar changed', 'rerouted');
  };

  const take = async (arrival: Arrival): Promise<Accepted> => {
    const here = await store.atPath(arrival.folder, arrival.path);
    if (here !== null && isSameVersion(here.version, arrival.version)) return met(here, arrival);
    const same = await store.atLocation(arrival.version);
    if (same !== null && isAt(same, arrival)) return met(same, arrival);
    if (same !== null && (isSamePlace(same, arrival) || !(await world.exists(same.folder, same.path))))
      return moved(same, here, arrival);
    if (here !== null && isOnDisk(here)) return changed(here, arrival);
    await add(arrival);
    return 'new';
  };

  const accepting = new Set<string>();
  return {
    reroute,
    accept: async (arrival) => {
      // The watcher and `dropcast add` may offer the same file at the same time.
      const place = `${arrival.folder}\0${arrival.path}`;
      if (accepting.has(place)) return 'busy';
      accepting.add(place);
      try {
        return await take(arrival);
      } finally {
        accepting.delete(place);
      }
    },
    gone: async (folder, path) => {
      const facts = await store.atPath(folder, path);
      if (facts !== null) await runner.apply(facts.id, { type: 'FILE_GONE' });
    },
  };
}

function isAt(facts: Facts, place: Pick<Facts, 'folder' | 'path'>): boolean {
  return facts.folder === place.folder && facts.path === place.path;
}

/** The same file on disk, seen from another watched folder since the folders were nested differently. */
function isSamePlace(one: Pick<Facts, 'folder' | 'path'>, other: Pick<Facts, 'folder' | 'path'>): boolean {
  return `${one.folder}/${one.path}` === `${other.folder}/${other.path}`;
}

/** Whether a record with the present metadata is on the service, or may be. */
function wasSent(facts: Facts): boolean {
  return facts.intent !== null || facts.videoId !== null;
}

/** Whether a row still speaks of a file at its path: the next drop of the same name is a new file, not a change of this one. */
function isOnDisk(facts: Facts): boolean {
  const state = stateOf(facts);
  return state !== 'superseded' && state !== 'vanished' && facts.disposal !== 'deleted';
}

function factsOf(arrival: Arrival, id: string, now: number): Facts {
  const { folder, path, version, sourceUrl, route, onDuplicate, afterReady } = arrival;
  const plan = route.kind === 'take' ? route.plan : null;
  const facts = newFacts({ id, folder, path, version, sourceUrl, plan, onDuplicate, afterReady, discoveredAt: now });
  const why = arrival.flaw ?? (route.kind === 'held' ? route.why : null);
  if (why === null) return facts;
  const lastFailure = arrival.flaw === null ? null : flawed(arrival.flaw);
  return { ...facts, end: 'held', why, endedAt: now, lastFailure };
}

/**
 * Pure: what a file that had vanished is when it comes back. It is judged as if it came now, for whoever put it back may have mended
 * it, its sidecar or the rules; but what waits for a decision of a person still does.
 */
function returned(facts: Facts, { route, flaw, sourceUrl }: Arrival, now: number): Facts {
  const { lastFailure } = facts;
  if (lastFailure?.kind === 'gone' || lastFailure?.kind === 'unclear')
    return { ...facts, end: 'held', why: lastFailure.message, endedAt: now };
  // A create request without an answer concerns this file no more than any other suspect: it begins anew.
  const isUnbound = facts.videoId === null && facts.sourceUrl === null;
  const again: Facts = {
    ...facts,
    ...rearmed(facts, now),
    ...(isUnbound && { intent: null, suspects: suspectsOf(facts) }),
    sourceUrl,
  };
  const plan = route.kind === 'take' ? route.plan : null;
  const why = flaw ?? (route.kind === 'held' && !wasSent(again) ? route.why : null);
  if (why !== null) {
    const left = wasSent(again) ? again.plan : plan;
    return { ...again, plan: left, end: 'held', why, endedAt: now, lastFailure: flaw === null ? null : flawed(flaw) };
  }
  if (plan === null || again.plan === null) return { ...again, plan: plan ?? again.plan };
  // The record is empty, and the channel of a video cannot be changed (api-spec 4.1): it is deleted and made anew.
  if (again.videoId !== null && plan.channel !== again.plan.channel)
    return { ...again, plan, amendment: null, dying: true };
  return { ...again, ...rerouted(again, route, now) };
}

const flawedCode = 'flawed';

/** Remembered, so that a rule which comes later does not send what is not to be sent. */
const flawed = (message: string): Failure => ({ kind: 'permanent', code: flawedCode, message });

/**
 * Pure: what another route changes in a row; null if nothing. What was sent already is sent again as an amendment.
 *
 * @param now epoch milliseconds
 */
export function rerouted(facts: Facts, route: Route, now: number): Partial<Facts> | null {
  // Put away: what lies beside its new place says nothing about it.
  if (facts.disposal === 'moved' || facts.disposal === 'deleted') return null;
  if (facts.plan === null) return unheld(facts, route);
  if (route.kind === 'held') {
    const mayHold = facts.end === null && !wasSent(facts);
    return mayHold ? { plan: null, end: 'held', why: route.why, endedAt: now, notBefore: null } : null;
  }
  if (isSamePlan(facts.plan, route.plan)) return null;
  if (!wasSent(facts)) return { plan: route.plan };
  // The channel of a video cannot be changed (api-spec 4.1).
  const plan = { ...route.plan, channel: facts.plan.channel, publish: feedsOf(facts, facts.plan, route.plan) };
  if (isSamePlan(facts.plan, plan)) return null;
  const amendment = amendmentOf(facts.plan, plan);
  return amendment === null ? { plan } : { plan, amendment: { ...facts.amendment, ...amendment } };
}

/** A file without a plan waits for a rule that takes it or for a sidecar that can be read. */
function unheld(facts: Facts, route: Route): Partial<Facts> | null {
  if (facts.end !== 'held') return null;
  if (facts.lastFailure?.code === flawedCode) return route.kind === 'held' ? null : { plan: route.plan };
  if (route.kind === 'held') return route.why === facts.why ? null : { why: route.why };
  return { plan: route.plan, end: null, why: null, endedAt: null };
}

/** What is done stays done; a ready video may get further feeds, but one that may be published at this moment is not taken back. */
function feedsOf(facts: Facts, before: Plan, after: Plan): readonly string[] {
  if (facts.end === 'done' || facts.end === 'superseded') return before.publish;
  const isWaiting = facts.end === null && facts.readyAt !== null;
  return isWaiting ? [...new Set([...before.publish, ...after.publish])] : after.publish;
}

function amendmentOf(before: Plan, after: Plan): Amendment | null {
  const amendment: Amendment = {
    ...(before.title !== after.title && { title: after.title }),
    ...(before.description !== after.description && { description: after.description ?? '' }),
    ...(before.tags.join('\n') !== after.tags.join('\n') && { tags: after.tags }),
  };
  return Object.keys(amendment).length === 0 ? null : amendment;
}

function isSamePlan(one: Plan, other: Plan): boolean {
  return JSON.stringify({ ...one, rule: '' }) === JSON.stringify({ ...other, rule: '' });
}
