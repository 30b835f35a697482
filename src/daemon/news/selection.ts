import type { NewsLine } from './lines.ts';
import type { NewsLevel } from '../../view/words/events.ts';

/** Sorted from least to most severe. */
export const newsLevels: readonly NewsLevel[] = ['info', 'warn', 'error'];

export function isLevel(word: string): word is NewsLevel {
  return (newsLevels as readonly string[]).includes(word);
}

/** Whether a line has this level or a more severe one. */
export function isAtLeast({ level }: Pick<NewsLine, 'level'>, least: string): boolean {
  return newsLevels.indexOf(level) >= (isLevel(least) ? newsLevels.indexOf(least) : 0);
}

/** Whether a line is about a path or anything below it. Lines about everything concern each folder too. */
export function isIn({ folder, path }: Pick<NewsLine, 'folder' | 'path'>, wanted: string): boolean {
  if (folder === null) return true;
  const place = path === null ? folder : `${folder}/${path}`;
  return place === wanted || place.startsWith(`${wanted}/`);
}
