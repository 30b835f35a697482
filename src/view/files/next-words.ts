import { clockTime } from '../words/clock-time.ts';
import type { FileView } from './file-view.ts';
import { progressWords } from './progress-words.ts';

/** What may still become of a finished local file: only then there is more to say. */
const unfinished: ReadonlySet<string | null> = new Set(['later', 'pending', 'waiting', 'refused']);

/**
 * Pure: why a file is where it is, and what happens next with its time, in one sentence; empty when there is nothing to
 * say.
 */
export function reasonWords(file: FileView, now: number): string {
  if (file.state === 'done' && !unfinished.has(file.local)) return '';
  const parts = [file.why, nextWords(file, now)].filter((part) => part !== null && part !== '');
  return parts.join('; ');
}

/** Pure: what happens next, with its time; null when nothing does, or `why` says it. */
export function nextWords(file: FileView, now: number): string | null {
  if (file.not_before !== null) return `next try at ${clockTime(file.not_before, now)}`;
  return progressWords(file, now);
}
