import type { Trouble } from '@dropcast/notify';
import { wholeSentence, clockTime } from '../../view/words/text.ts';
import { feedFailed, feedIsBack, heardWords, nameIsThere, silentWords } from '../../view/words/events.ts';
import {
  obstacleOf,
  overWords,
  headingOf,
  lastingWords,
  ofFolder,
  ofName,
  ofPause,
  type Obstacle,
  type Wait,
} from '../../view/waits.ts';
import type { Sight } from '../../view/hosts/sights.ts';
import type { Host, SeenFolder } from '../../view/hosts/fleet-view.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Pause } from '../../pipeline/events.ts';
import type { Failure } from '../../pipeline/file/failure.ts';
import type { UnknownName } from '../../pipeline/service-names.ts';
import { expectationWords } from '../../view/words/picture-words.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';

const minuteMs = 60_000;

/** The visible problems of the whole daemon, or of all daemons in a fleet. */
export interface Seen {
  readonly sights: readonly Sight[];
  /** Silent hosts that did not announce a stop. */
  readonly silent: readonly Pick<Host, 'name' | 'heardAt'>[];
  /** Feeds whose last publication failed. */
  readonly feeds: ReadonlyMap<string, Failure>;
  readonly budget: { readonly isUsedUp: boolean; readonly limit: number };
}

/** Returns all current troubles. Pure. @param now epoch milliseconds */
export function troublesOf({ sights, silent, feeds, budget }: Seen, now: number): readonly Trouble[] {
  return onceEach([
    ...sights.flatMap(({ host, ...sight }) => waitsSeen(sight, now).map((trouble) => seenBy(host, trouble))),
    ...silent.map((host) => ofSilent(host, now)),
    ...[...feeds].map(([feed, failure]) => ofFeed(feed, failure)),
    ...(budget.isUsedUp ? [ofBudget(budget.limit)] : []),
    ...sights.flatMap(({ host, expected }) =>
      expected.flatMap((view) => {
        const isLocal = host !== null && view.key.includes(`"${host}:/`);
        return expectationTroubles([view], now).map((trouble) => (isLocal ? named(host, trouble) : trouble));
      }),
    ),
  ]).map((trouble) => ofSome(trouble, sights.length));
}

function waitsSeen({ pause, creates, folders, unknown }: Omit<Sight, 'host'>, now: number): readonly Trouble[] {
  return [
    ...pausesSeen([{ pause, creates }]).map((each) => ofStop(each, now)),
    ...folders.filter(({ state }) => state === 'frozen').map((folder) => ofFrozen(folder, now)),
    ...unknown.map((name) => ofUnknown(name, now)),
  ];
}

/**
 * Attributes a trouble to the host that sees it. A service that several hosts cannot reach is one trouble; machines and
 * folders belong to one host each.
 */
function seenBy(host: string | null, trouble: Trouble): Trouble {
  if (host === null) return trouble;
  const isOwn = trouble.cause === 'machine' || trouble.kind === 'folder_away';
  return isOwn ? { ...named(host, trouble), cause: `on ${host}: ${trouble.cause}` } : { ...trouble, seenBy: [host] };
}

/** Merges troubles with the same cause. They keep the first host's words. */
function onceEach(troubles: readonly Trouble[]): readonly Trouble[] {
  return [...Map.groupBy(troubles, ({ cause }) => cause).values()].flatMap((same) => {
    const hosts = [...new Set(same.flatMap((trouble) => trouble.seenBy ?? []))].toSorted();
    return same.slice(0, 1).map((trouble) => (hosts.length === 0 ? trouble : { ...trouble, seenBy: hosts }));
  });
}

/** Names the affected hosts unless all hosts are affected. @param all number of reporting hosts */
function ofSome(trouble: Trouble, all: number): Trouble {
  const { seenBy: hosts = [], kind, title } = trouble;
  if (hosts.length === 0 || hosts.length === all || kind === 'needs_you') return trouble;
  return { ...trouble, title: `${escapeControls(hosts.join(', '))}: ${title}` };
}

/** Returns the host that a trouble belongs to; null for the service or without a fleet. */
export function hostOfCause(cause: string): string | null {
  return /^(?:on|silent) ([^:]+):/.exec(cause)?.[1] ?? null;
}

function named(host: string, trouble: Trouble): Trouble {
  const who = escapeControls(host);
  return { ...trouble, title: `${who}: ${trouble.title}`, overTitle: `${who}: ${trouble.overTitle}` };
}

function ofSilent(host: Pick<Host, 'name' | 'heardAt'>, now: number): Trouble {
  return {
    cause: `silent ${host.name}:`,
    kind: 'host_silent',
    holdMs: minuteMs,
    title: escapeControls(silentWords(host, now)),
    body: 'Other hosts take over the files of shared folders; the files of its own folders wait for it. Check the machine: systemctl status dropcast. If it is permanently gone: dropcast hosts forget.',
    overTitle: escapeControls(heardWords(host.name)),
  };
}

/** Obstacles that only the operator can remove, at the service. */
const refusals: ReadonlySet<Obstacle> = new Set<Obstacle>(['key', 'account', 'storage', 'channel']);

/** Each obstacle is its own cause, because the end of one reveals nothing about the others. */
function ofStop(pause: Pause, now: number): Trouble {
  const wait = ofPause(pause);
  const obstacle = obstacleOf(pause);
  const isRefused = refusals.has(obstacle);
  const advice = obstacle === 'machine' ? ' dropcast keeps trying.' : ' Nothing to do: dropcast keeps trying.';
  const { title, body } = wordsOf(wait, now);
  return {
    cause: causeOfStop(pause),
    kind: isRefused ? 'key_refused' : 'paused',
    holdMs: isRefused ? 0 : 5 * minuteMs,
    title,
    body: isRefused ? body : `${body}${advice}`,
    overTitle: overWords(obstacle),
  };
}

/** Returns all pauses that hosts see, in the order in which a trouble takes its words from one of them. Pure. */
export function pausesSeen(sights: readonly Pick<Sight, 'pause' | 'creates'>[]): readonly Pause[] {
  return sights.flatMap(({ pause, creates }) => (pause === null ? creates : [pause, ...creates]));
}

/** Returns the cause of the trouble that a pause is. Pure. */
export function causeOfStop(pause: Pause): string {
  const obstacle = obstacleOf(pause);
  return pause.channel === undefined ? obstacle : `${obstacle}: ${pause.channel}`;
}

function wordsOf(wait: Wait, now: number): Pick<Trouble, 'title' | 'body'> {
  return { title: escapeControls(headingOf(wait)), body: sentence(lastingWords(wait, now)) };
}

function ofUnknown(unknown: UnknownName, now: number): Trouble {
  const { kind, name } = unknown;
  return {
    cause: `unknown ${kind}: ${name}`,
    kind: 'needs_you',
    holdMs: minuteMs,
    ...wordsOf(ofName(unknown), now),
    overTitle: escapeControls(nameIsThere(unknown)),
  };
}

function ofFrozen({ path, why }: SeenFolder, now: number): Trouble {
  return {
    cause: `folder: ${path}`,
    kind: 'folder_away',
    holdMs: minuteMs,
    ...wordsOf(ofFolder({ path, why: why ?? 'it cannot be used' }), now),
    overTitle: `${escapeControls(path)} is back`,
  };
}

function ofFeed(feed: string, { kind, message }: Failure): Trouble {
  return {
    cause: `feed: ${feed}`,
    kind: 'feed_failed',
    // Failures that a retry cannot fix are announced immediately.
    holdMs: kind === 'permanent' || kind === 'gone' ? 0 : 5 * minuteMs,
    title: escapeControls(feedFailed(feed)),
    body: sentence(message),
    overTitle: escapeControls(feedIsBack(feed)),
  };
}

function ofBudget(limit: number): Trouble {
  return {
    cause: 'budget',
    kind: 'budget',
    holdMs: 30 * minuteMs,
    title: `All ${limit} requests of the hour have been used up for half an hour`,
    body: 'Files wait for requests. Something else may use the same key, or the limit is too low: see dropcast status.',
    overTitle: 'Requests are available again',
  };
}

function sentence(text: string): string {
  return wholeSentence(escapeControls(text));
}

/** Returns troubles for expected files that are missing or late. Pure. */
export function expectationTroubles(views: readonly ExpectationView[], now: number): readonly Trouble[] {
  return views.flatMap((view) => {
    const { state, folder, match, by, until, count } = view;
    if (state !== 'missing' && state !== 'late') return [];
    const files = `${folder}/${match}`;
    const name = escapeControls(files);
    const areSeveral = until === 'ready' && count > 1;
    const what = state === 'missing' ? 'is missing' : areSeveral ? 'are late' : 'is late';
    return [
      {
        cause: causeOf(view),
        kind: 'missing',
        // The expectation already includes a grace period.
        holdMs: 0,
        title: `${name} ${what}: expected by ${clockTime(by, now)}`,
        body: `${escapeControls(match)}: ${expectationWords(view, now)}.`,
        overTitle: `${name} has arrived, too late for ${clockTime(by, now)}`,
        stage: state,
      },
    ];
  });
}

/** The cause includes the day, so that each day counts separately. */
export function causeOf({ key, day }: Pick<ExpectationView, 'key' | 'day'>): string {
  return `expected: ${day} ${key}`;
}

/** Extracts the date, for example `2026-11-22`. */
export function dayOfCause(cause: string): string {
  return cause.split(' ')[1] ?? '';
}
