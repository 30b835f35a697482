import type { NewsLine } from './lines.ts';
import type { NewsLevel } from '../../view/words/events.ts';

/** From the least to the most severe. */
export const newsLevels: readonly NewsLevel[] = ['info', 'warn', 'error'];

export function isLevel(word: string): word is NewsLevel {
  return (newsLevels as readonly string[]).includes(word);
}

/** Whether a line is as severe as this level, or worse. */
export function isAtLeast({ level }: Pick<NewsLine, 'level'>, least: string): boolean {
  return newsLevels.indexOf(level) >= (isLevel(least) ? newsLevels.indexOf(least) : 0);
}

/** Whether a line is about a path or what is in it. What concerns everything concerns each folder too. */
export function isIn({ folder, path }: Pick<NewsLine, 'folder' | 'path'>, wanted: string): boolean {
  if (folder === null) return true;
  const place = path === null ? folder : `${folder}/${path}`;
  return place === wanted || place.startsWith(`${wanted}/`);
}
