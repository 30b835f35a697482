import type { DropcastEvent, Pause } from '../../pipeline/events.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { isHeldByRules, wasThereBefore } from '../../pipeline/file/reasons.ts';
import { size } from '../../view/words/amounts.ts';
import { capitalised } from '../../view/words/capitalised.ts';
import { clockTime } from '../../view/words/clock-time.ts';
import { pauseWords } from '../../view/words/pause-words.ts';
import { obstacleOf, overWords } from '../../view/words/stop-words.ts';

export type NewsLevel = 'info' | 'warn' | 'error';

/** Contract (`events --json`). `missed` replaces lines that a slow reader did not get. */
export type NewsType =
  | 'arrival'
  | 'expectation'
  | 'failure'
  | 'feed'
  | 'file'
  | 'folder'
  | 'host'
  | 'missed'
  | 'name'
  | 'operator-pause'
  | 'paused'
  | 'refusal'
  | 'reload'
  | 'resumed'
  | 'started';

/** What happened, for a person: the words of one event. */
export interface News {
  readonly level: NewsLevel;
  readonly type: NewsType;
  /** Id of the file; null: it concerns a folder, a feed or everything. */
  readonly file: string | null;
  /** Absolute. */
  readonly folder: string | null;
  /** Relative to the folder. */
  readonly path: string | null;
  readonly state: string | null;
  /** One sentence without the path. As it came: a name in it is escaped where it is printed. */
  readonly text: string;
}

/**
 * Pure: an event as a line that a tired operator understands; null when it is no news, or when another event says it.
 *
 * @param now epoch milliseconds
 */
export function newsOf(event: DropcastEvent, now: number): News | null {
  switch (event.type) {
    // The row says it, with its id; or the host where it happened.
    case 'arrival':
    case 'request':
    case 'elsewhere':
      return null;
    case 'file':
      return ofFile(event);
    case 'failure':
      return ofFailure(event, now);
    case 'feed':
      return ofFeed(event);
    case 'paused':
      return { ...aboutNothing, ...pausedWords(event.pause, now) };
    case 'resumed':
      return { ...aboutNothing, level: 'info', type: 'resumed', text: overWords(obstacleOf(event.pause)) };
    case 'operator-pause':
      return { ...aboutNothing, ...operatorWords(event, now), type: 'operator-pause', folder: event.pause.folder };
    case 'refusal':
      return { type: 'refusal', ...about(event.facts), ...warn(capitalised(event.why)) };
    case 'folder':
      return { ...aboutNothing, ...ofFolder(event), type: 'folder', folder: event.folder, state: event.state };
    case 'name':
      return { ...aboutNothing, ...nameWords(event), type: 'name' };
    default:
      return event satisfies never;
  }
}

const aboutNothing = { file: null, folder: null, path: null, state: null } as const;

function ofFile({ before, facts, note }: Extract<DropcastEvent, { type: 'file' }>): News | null {
  const told = before === null ? arrivalWords(facts) : movedWords(before, facts, note);
  if (told === null) return null;
  return { type: before === null ? 'arrival' : 'file', ...about(facts), ...told };
}

type Words = Pick<News, 'level' | 'text'>;

/** A person paused a folder or everything, or that is over. */
function operatorWords(event: Extract<DropcastEvent, { type: 'operator-pause' }>, now: number): Words {
  const { pause, is, by } = event;
  const what = pause.folder === null ? 'Everything' : 'The folder';
  if (is === 'set') return info(`${what} is ${pauseWords(pause, now)}; what runs is finished`);
  return info(
    by === null
      ? `${what} is no longer paused: the pause is over`
      : `${what} is no longer paused: ${by} ended the pause`,
  );
}

function about({ id, folder, path, ...facts }: Facts): Pick<News, 'file' | 'folder' | 'path' | 'state'> {
  return { file: id, folder, path, state: stateOf({ id, folder, path, ...facts }) };
}

/** Of an archive, each file would be a line. */
function arrivalWords(facts: Facts): Words | null {
  if (wasThereBefore(facts)) return null;
  const what = facts.sourceUrl === null ? `Came in, ${size(facts.version.size)}` : 'Came in, a link to import';
  if (facts.end === null) return info(what);
  return warn(`${what}, and is ${facts.end}: ${facts.why ?? 'unknown reason'}`);
}

function movedWords(before: Facts, facts: Facts, note: string | null): Words | null {
  if (facts.disposal !== before.disposal) {
    const put = putAwayWords(facts);
    if (put !== null) return put;
  }
  if (facts.path !== before.path || facts.folder !== before.folder) return info(`Renamed from ${before.path}`);
  if (stateOf(facts) !== stateOf(before)) return stateWords(before, facts, note);
  const isStarted = facts.uploadStartedAt !== null && before.uploadStartedAt === null;
  return isStarted ? info('Upload started') : null;
}

function putAwayWords({ disposal, why }: Facts): Words | null {
  switch (disposal) {
    case 'refused':
      return warn(`The local file is kept: ${why ?? 'it could not be put away'}`);
    case 'moved':
      return info('The local file was moved');
    case 'deleted':
      return info('The local file was deleted');
    default:
      return null;
  }
}

/** A failure tells itself, and says what happens next. */
function stateWords(before: Facts, facts: Facts, note: string | null): Words | null {
  switch (stateOf(facts)) {
    case 'queued':
      return info(note === null ? 'Waiting for its turn' : `Waiting for its turn: ${note}`);
    case 'awaiting upload':
      return before.videoId === facts.videoId ? null : info(`Record created: video ${facts.videoId ?? ''}`);
    case 'processing':
      return info(`Uploaded; the service processes it`);
    case 'awaiting publish':
      return info(`Ready; waiting to be published in ${(facts.plan?.publish ?? []).join(', ')}`);
    case 'done':
      return info(doneWords(facts));
    case 'held':
      return isHeldByRules(facts) ? warn(`Held: ${facts.why ?? ''}`) : null;
    case 'vanished':
      return facts.lastFailure?.kind === 'vanished' ? null : info('The file is no longer there');
    case 'superseded':
      return facts.lastFailure?.kind === 'changed'
        ? null
        : info('The file changed; its new content is a file of its own');
    default:
      return null;
  }
}

function doneWords({ published, videoId }: Facts): string {
  const feeds = Object.keys(published);
  const video = videoId === null ? '' : ` (video ${videoId})`;
  return feeds.length === 0 ? `Done: the video is ready${video}` : `Done: live in ${feeds.join(', ')}${video}`;
}

function ofFailure({ facts, failure, next }: Extract<DropcastEvent, { type: 'failure' }>, now: number): News {
  const isEnd = failure.kind === 'duplicate' || failure.kind === 'vanished';
  const words = facts.end === null ? retryWords(facts, next, now) : (endWords[facts.end] ?? facts.end);
  const level = isEnd ? 'info' : facts.end === 'failed' || failure.kind === 'bug' ? 'error' : 'warn';
  return { type: 'failure', ...about(facts), level, text: `${capitalised(failure.message)}; ${words}` };
}

function retryWords({ notBefore }: Facts, next: string, now: number): string {
  return notBefore === null ? next : `next try at ${clockTime(notBefore, now)}`;
}

const endWords: Readonly<Record<string, string>> = {
  failed: 'failed: `dropcast retry` tries it again',
  held: 'held: it needs you',
  skipped: 'skipped',
  vanished: 'nothing is left to do',
  superseded: 'its new content is a file of its own',
};

function ofFeed({ feed, files, failure }: Extract<DropcastEvent, { type: 'feed' }>): News {
  const many = files === 1 ? '1 video' : `${files} videos`;
  if (failure === null) {
    const text = files === 0 ? `Feed ${feed} published again` : `Feed ${feed} published with ${many}`;
    return { ...aboutNothing, type: 'feed', ...info(text) };
  }
  return {
    ...aboutNothing,
    type: 'feed',
    ...warn(`Feed ${feed} was not published with ${many}: ${failure.message}`),
  };
}

function pausedWords({ kind, holds, why, nextProbeAt }: Pause, now: number): Words & Pick<News, 'type'> {
  const what = holds === 'uploads' ? 'All uploads wait' : 'All work waits';
  const text = `${what}: ${why}; next try at ${clockTime(nextProbeAt, now)}`;
  return { level: kind === 'suspended' ? 'error' : 'warn', type: 'paused', text };
}

function nameWords({ kind, name, isKnown }: Extract<DropcastEvent, { type: 'name' }>): Words {
  if (isKnown) return info(`The service has the ${kind} ${name}; what waited for it may resume`);
  const waits = kind === 'channel' ? 'files that go there wait' : 'videos wait to be published there';
  return { level: 'error', text: `The service has no ${kind} ${name}; ${waits}` };
}

function ofFolder({ state, why }: Extract<DropcastEvent, { type: 'folder' }>): Words {
  const because = why === null ? '' : `: ${why}`;
  if (state === 'watching') return info('The folder is watched');
  if (state === 'scanning') return warn(`The folder is scanned, because its events are incomplete${because}`);
  return { level: 'error', text: `The folder cannot be used; its files wait${because}` };
}

const info = (text: string): Words => ({ level: 'info', text });
const warn = (text: string): Words => ({ level: 'warn', text });
