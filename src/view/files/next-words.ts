import { clockTime } from '../words/clock-time.ts';
import type { FileView } from './file-view.ts';
import { progressWords } from './progress-words.ts';

/** Values of a finished file's `local` that still have something to report. */
const unfinished: ReadonlySet<string | null> = new Set(['later', 'pending', 'waiting', 'refused']);

/**
 * Explains, in one sentence, why a file is where it is and what happens next and when. Empty when there is nothing to
 * add. Pure.
 */
export function reasonWords(file: FileView, now: number): string {
  if (file.state === 'done' && !unfinished.has(file.local)) return '';
  const parts = [file.why, nextWords(file, now)].filter((part) => part !== null && part !== '');
  return parts.join('; ');
}

/** Describes what happens next and when; null when nothing does, or `why` already says so. Pure. */
export function nextWords(file: FileView, now: number): string | null {
  if (file.not_before !== null) return `next try at ${clockTime(file.not_before, now)}`;
  return progressWords(file, now);
}
