import type { DropcastEvent, NameKind } from '../../pipeline/events.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { channelRefusal, isHeldByRules, isIgnored, wasThereBefore } from '../../pipeline/file/reasons.ts';
import { headingOf, ofName, ofPause, waitWords } from '../waits.ts';
import { size } from './amounts.ts';
import { capitalised } from './capitalised.ts';
import { clockTime } from './clock-time.ts';
import { pauseWords } from './pause-words.ts';
import { obstacleOf, overWords } from './stop-words.ts';

export type NewsLevel = 'info' | 'warn' | 'error';

/** What happened, in words. */
export interface EventWords {
  readonly level: NewsLevel;
  /** The message of the log: names and figures are in its fields. */
  readonly title: string;
  /**
   * One sentence with names and figures, but without the path of the file or folder. As it came: a name in it is
   * escaped where it is printed.
   */
  readonly text: string;
}

type Of<Type extends DropcastEvent['type']> = Extract<DropcastEvent, { type: Type }>;

/**
 * Pure: the words of an event, for log, history and page; null when it is no news, or when another event says it.
 *
 * @param now epoch milliseconds
 */
export function eventWords(event: DropcastEvent, now: number): EventWords | null {
  switch (event.type) {
    case 'arrival':
      return arrivalWords(size(event.size), event.heldBecause === null ? null : 'held', event.heldBecause);
    case 'file':
      return event.before === null ? ofArrival(event.facts) : ofChange(event.before, event.facts, event.note);
    case 'failure':
      return ofFailure(event, now);
    case 'feed':
      return ofFeed(event);
    case 'paused': {
      const wait = { ...ofPause(event.pause), since: null };
      return words(event.pause.kind === 'suspended' ? 'error' : 'warn', headingOf(wait), waitWords(wait, now));
    }
    case 'resumed':
      return words('info', overWords(obstacleOf(event.pause)));
    case 'operator-pause':
      return ofOperatorPause(event, now);
    case 'refusal':
      return words('warn', 'Request refused', capitalised(event.why));
    case 'folder':
      return ofWatchedFolder(event);
    case 'name':
      return event.isKnown
        ? words('info', `Known ${event.kind}`, `${nameIsThere(event)}; files that waited for it may resume`)
        : words('error', `Unknown ${event.kind}`, waitWords({ ...ofName({ ...event, since: now }), since: null }, now));
    case 'request':
    case 'elsewhere':
      return null;
    default:
      return event satisfies never;
  }
}

/** Levels and words of the states of a file. */
export const stateWords: Readonly<Record<string, readonly [NewsLevel, string]>> = {
  queued: ['info', 'Waiting for its turn'],
  'awaiting upload': ['info', 'Record created'],
  processing: ['info', 'Uploaded; the service processes it'],
  'awaiting publish': ['info', 'Ready; waiting to be published'],
  retrying: ['warn', 'Retrying'],
  done: ['info', 'Done'],
  failed: ['error', 'Failed'],
  held: ['warn', 'Held'],
  skipped: ['info', 'Skipped'],
  vanished: ['info', 'The file is no longer there'],
  superseded: ['info', 'The file changed; its new content counts as a new file'],
};

/** Files of an archive get no lines: there may be thousands. */
function ofArrival(facts: Facts): EventWords | null {
  if (wasThereBefore(facts)) return null;
  const what = facts.sourceUrl === null ? size(facts.version.size) : 'a link to import';
  return arrivalWords(what, facts.end, facts.why);
}

function arrivalWords(what: string, end: string | null, why: string | null): EventWords {
  if (end === null) return words('info', 'Arrived', `Arrived, ${what}`);
  return words('warn', `Arrived and is ${end}`, `Arrived, ${what}, and is ${end}: ${why ?? 'unknown reason'}`);
}

function ofChange(before: Facts, facts: Facts, note: string | null): EventWords | null {
  const put = facts.disposal === before.disposal ? null : putAwayWords(facts);
  if (put !== null) return put;
  const refusal = channelRefusal(facts);
  if (refusal !== null && refusal !== channelRefusal(before))
    return words('warn', 'Request refused', capitalised(refusal));
  if (facts.path !== before.path || facts.folder !== before.folder)
    return words('info', 'Renamed', `Renamed from ${before.path}`);
  if (stateOf(facts) !== stateOf(before)) return ofNewState(before, facts, note);
  const isStarted = facts.uploadStartedAt !== null && before.uploadStartedAt === null;
  return isStarted ? words('info', 'Upload started') : null;
}

function putAwayWords({ disposal, why }: Facts): EventWords | null {
  const kept = 'The local file is kept';
  if (disposal === 'refused') return words('warn', kept, `${kept}: ${why ?? 'it could not be put away'}`);
  return disposal === 'moved' || disposal === 'deleted' ? words('info', `The local file was ${disposal}`) : null;
}

/** A failure is an event of its own. */
function ofNewState(before: Facts, facts: Facts, note: string | null): EventWords | null {
  const state = stateOf(facts);
  const { lastFailure, videoId, why } = facts;
  const say = (detail = ''): EventWords => {
    const [level, title] = stateWords[state] ?? ['info', capitalised(state)];
    return words(level, title, `${title}${detail}`);
  };
  switch (state) {
    case 'queued':
      return say(note === null ? '' : `: ${note}`);
    case 'awaiting upload':
      return before.videoId === videoId ? null : say(`: video ${videoId ?? ''}`);
    case 'processing':
      return say();
    case 'awaiting publish':
      return say(` in ${(facts.plan?.publish ?? []).join(', ')}`);
    case 'done':
      return say(doneWords(facts));
    case 'held':
      return isHeldByRules(facts) ? say(`: ${why ?? ''}`) : null;
    case 'skipped':
      return isIgnored(facts) ? say(`: ${why ?? ''}`) : null;
    case 'vanished':
      return lastFailure?.kind === 'vanished' ? null : say();
    case 'superseded':
      return lastFailure?.kind === 'changed' ? null : say();
    default:
      return null;
  }
}

function doneWords({ published, videoId }: Facts): string {
  const feeds = Object.keys(published);
  const video = videoId === null ? '' : ` (video ${videoId})`;
  return feeds.length === 0 ? `: the video is ready${video}` : `: live in ${feeds.join(', ')}${video}`;
}

function ofFailure({ facts, failure, next }: Of<'failure'>, now: number): EventWords {
  const isEnd = failure.kind === 'duplicate' || failure.kind === 'vanished';
  const after = facts.end === null ? retryWords(facts, next, now) : (endWords[facts.end] ?? facts.end);
  const level = isEnd ? 'info' : facts.end === 'failed' || failure.kind === 'bug' ? 'error' : 'warn';
  return words(level, isEnd ? 'A file ended' : 'A step failed', `${capitalised(failure.message)}; ${after}`);
}

function retryWords({ notBefore }: Facts, next: string, now: number): string {
  return notBefore === null ? next : `next try at ${clockTime(notBefore, now)}`;
}

const endWords: Readonly<Record<string, string>> = {
  failed: 'failed: `dropcast retry` tries it again',
  held: 'held: it needs you',
  skipped: 'skipped',
  vanished: 'nothing is left to do',
  superseded: 'its new content counts as a new file',
};

function ofFeed({ feed, files, failure }: Of<'feed'>): EventWords {
  const many = files === 1 ? '1 video' : `${files} videos`;
  if (failure === null)
    return words('info', 'Feed published', files === 0 ? feedIsBack(feed) : `Feed ${feed} published with ${many}`);
  return words('warn', 'Feed not published', `${feedFailed(feed)} with ${many}: ${failure.message}`);
}

/** Pure: a feed could not be published. */
export function feedFailed(feed: string): string {
  return `Feed ${feed} was not published`;
}

/** Pure: a feed was published after it could not be. */
export function feedIsBack(feed: string): string {
  return `Feed ${feed} published again`;
}

/** Pure: the service has a channel or feed that it did not have. */
export function nameIsThere({ kind, name }: { readonly kind: NameKind; readonly name: string }): string {
  return `The service has the ${kind} ${name}`;
}

/** A person paused a folder or everything, or that is over. */
function ofOperatorPause({ pause, is, by }: Of<'operator-pause'>, now: number): EventWords {
  const what = pause.folder === null ? 'Everything' : 'The folder';
  if (is === 'set')
    return words('info', 'Paused', `${what} is ${pauseWords(pause, now)}; work in progress is finished`);
  const how = by === null ? 'the pause is over' : `${by} ended the pause`;
  return words('info', 'Pause ended', `${what} is no longer paused: ${how}`);
}

function ofWatchedFolder({ state, why }: Of<'folder'>): EventWords {
  const title = folderTitles[state];
  const level = state === 'watching' ? 'info' : state === 'scanning' ? 'warn' : 'error';
  return words(level, title, state === 'watching' || why === null ? title : `${title}: ${why}`);
}

const folderTitles: Readonly<Record<Of<'folder'>['state'], string>> = {
  watching: 'The folder is watched',
  scanning: 'The folder is scanned, because its events are incomplete',
  frozen: 'The folder waits',
};

/** Pure: a host of the fleet is not heard. @param now epoch milliseconds */
export function silentWords({ name, heardAt }: { name: string; heardAt: number }, now: number): string {
  return `${name} is silent: last heard from at ${clockTime(heardAt, now)}`;
}

/** Pure: the words for a host of the fleet that was silent and has reported again. */
export function heardWords(name: string): string {
  return `${name} responds again`;
}

function words(level: NewsLevel, title: string, text = title): EventWords {
  return { level, title, text };
}
