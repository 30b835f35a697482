import { clockTime } from './text.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';
import type { Comparison } from '../../pipeline/rounds/adopt.ts';
import type { DeafTargetView } from '../picture/picture.ts';

/** Describes an expectation's state in a few words, for status and page: `1 of 2 files missing since 18:30`. */
export function expectationWords(
  { state, count, arrived, live, by, until }: Omit<ExpectationView, 'key' | 'folder' | 'match' | 'day' | 'from'>,
  now: number,
): string {
  const time = clockTime(by, now);
  switch (state) {
    case 'expected':
      return `${filesOf(count)} expected by ${time}, ${arrived} there`;
    case 'arrived':
      return until === 'live' ? `there, to be live by ${time}` : `there, in time for ${time}`;
    case 'live':
      return `live, in time for ${time}`;
    case 'missing':
      return `${count - arrived} of ${filesOf(count)} missing since ${time}`;
    case 'late':
      return `there, but ${count - Math.min(count, live)} of ${filesOf(count)} not live since ${time}`;
    case 'recovered':
      return `${until === 'live' ? 'live' : 'there'}, too late for ${time}`;
    default:
      return state satisfies never;
  }
}

function filesOf(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}

/** Example: `comparing with 12,000 videos: 37 %`. */
export function comparisonWords({ videos, share }: Comparison): string {
  const all = videos === null ? 'the videos of the service' : `${videos.toLocaleString('en')} videos`;
  return `comparing with ${all}${share === null ? '' : `: ${Math.floor(100 * share)} %`}`;
}

/** Example: `ntfy "phone" has accepted nothing since 14:32: answered 401; 3 messages wait`. */
export function deafWords({ name, type, why, since, waiting }: DeafTargetView, now: number): string {
  const who = name === type ? type : `${type} "${name}"`;
  const wait = waiting === 0 ? '' : `; ${waiting === 1 ? '1 message waits' : `${waiting} messages wait`}`;
  return `${who} has accepted nothing since ${clockTime(since, now)}: ${why}${wait}`;
}
