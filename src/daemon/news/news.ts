import type { FeedLinks } from '../../host/feed-links.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import { feedUrlsOf } from '../../view/files/file-view.ts';
import { eventWords } from '../../view/words/events.ts';
import type { EventWords, NewsLevel } from '../../view/words/events.ts';

/** Public contract (`events --json`). `missed` replaces lines that a slow reader did not receive. */
export type NewsType =
  | 'arrival'
  | 'expectation'
  | 'failure'
  | 'feed'
  | 'file'
  | 'folder'
  | 'host'
  | 'late'
  | 'missed'
  | 'name'
  | 'operator-pause'
  | 'paused'
  | 'refusal'
  | 'reload'
  | 'resumed'
  | 'started';

/** What happened, in words for people. */
export interface News extends Pick<EventWords, 'level' | 'text'> {
  readonly type: NewsType;
  /** The file's id; null: the news is about a folder, a feed or everything. */
  readonly file: string | null;
  /** Absolute path. */
  readonly folder: string | null;
  /** Relative to the folder. */
  readonly path: string | null;
  readonly state: string | null;
  readonly video_id: string | null;
  /** Where the video is watched; null until it is ready. */
  readonly embed_url: string | null;
  /** Where the file's feeds are read, as far as known; null: the line is about no file. */
  readonly feed_urls: Readonly<Record<string, string>> | null;
}

/**
 * Turns an event into a line that a tired operator understands. Returns null when it is not news, or when another event
 * reports it. Pure.
 *
 * @param now epoch milliseconds
 */
export function newsOf(event: DropcastEvent, now: number, links?: Pick<FeedLinks, 'find'>): News | null {
  const subject = subjectOf(event, links);
  const words = subject && eventWords(event, now);
  return words && { ...aboutNothing, level: words.level, ...subject, text: words.text };
}

export const aboutNothing = {
  file: null,
  folder: null,
  path: null,
  state: null,
  video_id: null,
  embed_url: null,
  feed_urls: null,
} as const;

function subjectOf(event: DropcastEvent, links?: Pick<FeedLinks, 'find'>): (Pick<News, 'type'> & Partial<News>) | null {
  switch (event.type) {
    // Reported by the row, which has the id, or by the host where it happened.
    case 'arrival':
    case 'request':
    case 'elsewhere':
      return null;
    case 'file':
    case 'failure':
    case 'late':
    case 'refusal': {
      const { id: file, folder, path, videoId, embedUrl } = event.facts;
      const type = event.type === 'file' && event.before === null ? 'arrival' : event.type;
      const addresses = { embed_url: embedUrl, feed_urls: feedUrlsOf(event.facts, links) };
      return { type, file, folder, path, state: stateOf(event.facts), video_id: videoId, ...addresses };
    }
    case 'operator-pause':
      return { type: event.type, folder: event.pause.folder };
    case 'folder':
      return { type: event.type, folder: event.folder, state: event.state };
    default:
      return { type: event.type };
  }
}

/** Sorted from least to most severe. */
export const newsLevels: readonly NewsLevel[] = ['info', 'warn', 'error'];

export function isLevel(word: string): word is NewsLevel {
  return (newsLevels as readonly string[]).includes(word);
}

/** Whether a line has this level or a more severe one. */
export function isAtLeast({ level }: Pick<News, 'level'>, least: string): boolean {
  return newsLevels.indexOf(level) >= (isLevel(least) ? newsLevels.indexOf(least) : 0);
}

/** Whether a line is about a path or anything below it. Lines about everything concern each folder too. */
export function isIn({ folder, path }: Pick<News, 'folder' | 'path'>, wanted: string): boolean {
  if (folder === null) return true;
  const place = path === null ? folder : `${folder}/${path}`;
  return place === wanted || place.startsWith(`${wanted}/`);
}
