import type { DropcastEvent, NameKind } from '../../pipeline/events.ts';
import { stateOf, type Facts } from '../../pipeline/file/facts.ts';
import { channelRefusal, isHeldByRules, isIgnored, isTakenBack, wasThereBefore } from '../../pipeline/file/reasons.ts';
import { headingOf, ofName, ofPause, waitWords, pauseWords, obstacleOf, overWords } from '../waits.ts';
import { lateWords } from './picture-words.ts';
import { size, capitalised, clockTime, counted } from './text.ts';

export type NewsLevel = 'info' | 'warn' | 'error';

/** What happened, in words. */
export interface EventWords {
  readonly level: NewsLevel;
  /** The log message; names and figures are in its fields. */
  readonly title: string;
  /**
   * One sentence with names and figures, but without the file's or folder's path. Unescaped: names are escaped where
   * they are printed.
   */
  readonly text: string;
}

type Of<Type extends DropcastEvent['type']> = Extract<DropcastEvent, { type: Type }>;

/**
 * Describes an event for the log, history and page. Null when it is not news, or when another event reports it. Pure.
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
    case 'late':
      return words('warn', 'Late', capitalised(lateWords(event, now)));
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

/** Log level and words for each file state. */
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

/** Pre-existing files produce no lines: there may be thousands. */
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

/** Omits failures, which have their own event. */
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
      return isIgnored(facts) || isTakenBack(facts) ? say(`: ${why ?? ''}`) : null;
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
  const many = counted(files, 'video');
  if (failure === null)
    return words('info', 'Feed published', files === 0 ? feedIsBack(feed) : `Feed ${feed} published with ${many}`);
  return words('warn', 'Feed not published', `${feedFailed(feed)} with ${many}: ${failure.message}`);
}

/** Reports that a feed could not be published. Pure. */
export function feedFailed(feed: string): string {
  return `Feed ${feed} was not published`;
}

/** Reports that a feed was published after an earlier failure. Pure. */
export function feedIsBack(feed: string): string {
  return `Feed ${feed} published again`;
}

/** Reports that the service now has a channel or feed that was missing. Pure. */
export function nameIsThere({ kind, name }: { readonly kind: NameKind; readonly name: string }): string {
  return `The service has the ${kind} ${name}`;
}

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

/** Reports that a fleet host has gone silent. Pure. @param now epoch milliseconds */
export function silentWords({ name, heardAt }: { name: string; heardAt: number }, now: number): string {
  return `${name} is silent: last heard from at ${clockTime(heardAt, now)}`;
}

/** Reports that a silent fleet host is responding again. Pure. */
export function heardWords(name: string): string {
  return `${name} responds again`;
}

function words(level: NewsLevel, title: string, text = title): EventWords {
  return { level, title, text };
}
