import type { ExpectationView } from '../../pipeline/expectation.ts';
import type { DaySlot, Sentence, DeafTargetView } from '../picture/picture.ts';
import type { Earliest } from '../../pipeline/earliest.ts';
import { clockTime, counted, size } from './text.ts';
import type { Comparison } from '../../pipeline/rounds/adopt.ts';

/** The facts behind the headline sentence. */
export interface Health extends Trouble {
  /** Why nothing is being sent, briefly: `Waiting for the key`; null: sending is possible. */
  readonly stopped: string | null;
  readonly uploading: number;
  /** Files not yet uploading, settling ones included. */
  readonly waiting: number;
  /** Files sent but not live yet. */
  readonly following: number;
  readonly retrying: number;
  /** Files that ended since midnight. */
  readonly today: Omit<DaySlot, 'at'>;
  /** All files that ever went live. */
  readonly live: number;
}

/** Counts of problems that a person has to look at. */
interface Trouble {
  readonly needsYou: number;
  readonly frozenFolders: number;
  /** Expectations that are missing or late. */
  readonly unmet: number;
}

/** Summarises dropcast's state in one sentence. Pure. */
export function sentenceOf(health: Health): Sentence {
  const { stopped } = health;
  const trouble = troubleOf(health);
  if (stopped !== null) return { level: 'stopped', text: `${stopped}: nothing new is sent${more(trouble)}.` };
  const work = workOf(health);
  const level = needsPerson(health) ? 'attention' : work === null ? 'ok' : 'busy';
  const rest = trouble.length === 0 ? ['nothing needs you'] : trouble;
  if (work !== null) return { level, text: `${work}${trouble.length === 0 ? ', ' : '; '}${rest.join('; ')}.` };
  return { level, text: `${restOf(health)}${more(trouble)}.` };
}

/** Summarises the state while no daemon is running on this host. Pure. */
export function sentenceWithoutDaemon({ needsYou, isFleet }: { needsYou: number; isFleet: boolean }): Sentence {
  const trouble = troubleOf({ needsYou, frozenFolders: 0, unmet: 0 });
  return { level: 'stopped', text: `dropcast is not running${isFleet ? ' on this host' : ''}${more(trouble)}.` };
}

/** Whether a person has to act. Determines the overview's level and the exit code of `dropcast status`. Pure. */
export function needsPerson({ needsYou, frozenFolders, unmet }: Trouble): boolean {
  return needsYou + frozenFolders + unmet > 0;
}

/** Counts expectations that are missing or late. */
export function countUnmet(expectations: readonly Pick<ExpectationView, 'state'>[]): number {
  return expectations.filter(({ state }) => state === 'missing' || state === 'late').length;
}

export function unmetWords(deliveries: number): string {
  return `${counted(deliveries, 'expected delivery is', 'expected deliveries are')} missing or late`;
}

function more(trouble: readonly string[]): string {
  return trouble.map((words) => `; ${words}`).join('');
}

function troubleOf({ needsYou, frozenFolders, unmet }: Trouble): readonly string[] {
  return [
    ...(frozenFolders > 0 ? [`${counted(frozenFolders, 'folder is', 'folders are')} frozen`] : []),
    ...(unmet > 0 ? [unmetWords(unmet)] : []),
    ...(needsYou > 0 ? [`${counted(needsYou, 'needs', 'need')} you`] : []),
  ];
}

/** Example: `Uploading 3, 12 waiting, 2 on the service`; null when nothing is in progress. */
function workOf({ uploading, waiting, following, retrying }: Health): string | null {
  const parts = [
    ...(uploading > 0 ? [`Uploading ${count(uploading)}`] : []),
    ...(waiting > 0 ? [`${count(waiting)} waiting`] : []),
    ...(following > 0 ? [`${count(following)} on the service`] : []),
    ...(retrying > 0 ? [`${count(retrying)} retrying`] : []),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

function restOf({ today, live, needsYou }: Health): string {
  const all = today.done + today.failed;
  if (all > 0 && today.failed === 0)
    return all === 1 ? "Today's file is live" : `All ${count(all)} of today's files are live`;
  if (all > 0) return `${count(today.done)} of today's ${count(all)} files ${today.done === 1 ? 'is' : 'are'} live`;
  if (live > 0)
    return needsYou > 0 ? 'No files have arrived today' : 'No files have arrived today, and all earlier ones are live';
  return needsYou > 0 ? 'No file is live yet' : 'No files have arrived yet';
}

function count(files: number): string {
  return files.toLocaleString('en');
}

/** Describes an expectation's state in a few words, for status and page: `1 of 2 files missing since 18:30`. */
export function expectationWords(
  { state, count, arrived, live, by, until, why }: Omit<ExpectationView, 'key' | 'folder' | 'match' | 'day' | 'from'>,
  now: number,
): string {
  const time = clockTime(by, now);
  switch (state) {
    case 'expected':
      return `${counted(count, 'file')} expected by ${time}, ${arrived} there`;
    case 'arrived':
      return until === 'live' ? `there, to be live by ${time}` : `there, in time for ${time}`;
    case 'live':
      return `live, in time for ${time}`;
    case 'missing':
      return `${count - arrived} of ${counted(count, 'file')} missing since ${time}`;
    case 'late':
      if (until === 'ready') return lateWords({ by, why: why ?? '' }, now);
      if (why !== null) return `there, but ${lateWords({ by, why }, now, 'live')}`;
      return `there, but ${count - Math.min(count, live)} of ${counted(count, 'file')} not live since ${time}`;
    case 'recovered':
      return `${until === 'live' ? 'live' : 'there'}, too late for ${time}`;
    default:
      return state satisfies never;
  }
}

/** Describes a deadline that is certainly missed: `cannot be ready by 18:30: 4.2 GB are left to send`. Pure. */
export function lateWords(
  { by, why }: { readonly by: number; readonly why: string },
  now: number,
  until = 'ready',
): string {
  const time = clockTime(by, now);
  return `${now <= by ? `cannot be ${until} by ${time}` : `not ${until} since ${time}`}: ${why}`;
}

/** Says what makes a file late, and how late. Pure. */
export function lateWhy({ because, bytes, inMs }: Earliest, now: number): string {
  const left = because === 'bytes' && bytes > 0 ? `${size(bytes)} are left to send` : lateReasons[because];
  return inMs === 0 ? left : `${left}; ready at ${clockTime(now + inMs, now)} at the earliest`;
}

const lateReasons: Readonly<Record<Earliest['because'], string>> = {
  bytes: 'it waits for its upload',
  requests: 'its create request waits for the hourly request budget',
  retry: 'it waits for its next try',
  processing: 'the service processes it',
};

/** Example: `comparing with 12,000 videos: 37 %`. */
export function comparisonWords({ videos, share }: Comparison): string {
  const all = videos === null ? 'the videos of the service' : `${videos.toLocaleString('en')} videos`;
  return `comparing with ${all}${share === null ? '' : `: ${Math.floor(100 * share)} %`}`;
}

/** Example: `ntfy "phone" has accepted nothing since 14:32: answered 401; 3 messages wait`. */
export function deafWords({ name, type, why, since, waiting }: DeafTargetView, now: number): string {
  const who = name === type ? type : `${type} "${name}"`;
  const wait = waiting === 0 ? '' : `; ${counted(waiting, 'message waits', 'messages wait')}`;
  return `${who} has accepted nothing since ${clockTime(since, now)}: ${why}${wait}`;
}
