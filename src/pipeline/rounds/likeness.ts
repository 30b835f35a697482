import { posix } from 'node:path';
import type { Facts } from '../file/facts.ts';
import type { HostedVideo, Likeness } from '../file/failure.ts';

/** A local file, reduced to what is compared with the service's videos. */
export interface LocalVideo {
  readonly id: string;
  readonly titles: readonly string[];
  /** Seconds; null if the container does not contain a duration. */
  readonly duration: number | null;
}

/**
 * Returns the title given by the rules, and the file name with and without its extension, because the file may have
 * been uploaded earlier by other means.
 */
export function titlesOf({ plan, path }: Pick<Facts, 'plan' | 'path'>): readonly string[] {
  const { name, base } = posix.parse(path);
  return [...new Set([...(plan === null ? [] : [plan.title]), name, base].map(asCompared))];
}

/**
 * Returns the videos that each file may be. A match is certain if it is unique: a ready video with a title of the file
 * and its duration, where the file has no other candidate and no other file matches the video. An empty record or a
 * failed video is not a candidate, because it has no content. Pure.
 *
 * Ten thousand files may share a title with ten thousand videos, so candidates are counted and only the first few are
 * listed.
 *
 * @param videos without those that belong to a file already
 * @returns by file id
 */
export function likenesses(
  files: readonly LocalVideo[],
  videos: readonly HostedVideo[],
): ReadonlyMap<string, Likeness> {
  const hosted = videos.filter(({ status }) => status !== 'pending' && status !== 'failed');
  const videosOf = near(hosted, ({ title }) => [asCompared(title)]);
  const filesOf = near(files, ({ titles }) => titles);
  return new Map(
    files.map((file) => {
      const likely = file.titles.map((title) => videosOf(title, file.duration));
      const count = sum(likely.map((those) => those.count));
      const named = likely.flatMap(({ first }) => first).slice(0, mostNamed);
      const [only] = named;
      const claims = only === undefined ? 0 : filesOf(asCompared(only.title), only.duration).count;
      const doubt = only === undefined ? null : doubtOf(file, only, { count, claims });
      const more = count > named.length ? { count } : {};
      return [file.id, { videos: named, ...more, isSure: only !== undefined && doubt === null, doubt }];
    }),
  );
}

/** Maximum number of candidates listed per file, because each row stores its own. */
const mostNamed = 10;

interface Near<T> {
  readonly count: number;
  readonly first: readonly T[];
}

/**
 * Finds the videos with a given title whose duration is near or unknown. The durations for each title are sorted, so
 * that no file has to be compared with every video.
 */
function near<T extends { readonly duration: number | null }>(
  all: readonly T[],
  titlesOf: (one: T) => readonly string[],
): (title: string, duration: number | null) => Near<T> {
  const byTitle = new Map<string, { readonly unknown: T[]; readonly known: (T & { readonly duration: number })[] }>();
  for (const one of all)
    for (const title of titlesOf(one)) {
      const those = byTitle.get(title) ?? { unknown: [], known: [] };
      byTitle.set(title, those);
      if (hasDuration(one)) those.known.push(one);
      else those.unknown.push(one);
    }
  for (const { known } of byTitle.values()) known.sort((a, b) => a.duration - b.duration);
  return (title, duration) => {
    const { unknown, known } = byTitle.get(title) ?? { unknown: [], known: [] };
    const from = duration === null ? 0 : firstFrom(known, duration - nearSeconds);
    const to = duration === null ? known.length : firstFrom(known, duration + nearSeconds, true);
    const first = [...known.slice(from, Math.min(to, from + mostNamed)), ...unknown.slice(0, mostNamed)];
    return { count: to - from + unknown.length, first };
  };
}

function hasDuration<T extends { readonly duration: number | null }>(one: T): one is T & { readonly duration: number } {
  return one.duration !== null;
}

/** Returns the index of the first duration that is at least `least`, or greater than it with `isAbove`. */
function firstFrom(sorted: readonly { readonly duration: number }[], least: number, isAbove = false): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const { duration = 0 } = sorted[middle] ?? {};
    if (duration < least || (isAbove && duration === least)) from = middle + 1;
    else to = middle;
  }
  return from;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function doubtOf(
  { duration }: LocalVideo,
  video: HostedVideo,
  { count, claims }: { readonly count: number; readonly claims: number },
): string | null {
  if (count > 1) return `${count} videos have this title and about this duration`;
  if (claims > 1) return `${claims} files have the title and about the duration of this video`;
  const apart = distance(duration, video.duration);
  if (apart === null)
    return duration === null
      ? 'only the title matches: the file does not state its duration'
      : "only the title matches: the service does not state the video's duration";
  if (apart > sameSeconds) return `the durations differ by ${apart.toFixed(1)} s`;
  return video.status === 'ready' ? null : `the status of the video is ${JSON.stringify(video.status)}`;
}

function distance(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.abs(one - other);
}

/** Largest difference between equal durations: the service reports whole seconds and may round up or down. */
const sameSeconds = 1;
/**
 * Largest difference between likely candidates. It may stem from a different way of measuring or a different cut; the
 * operator is shown the difference.
 */
const nearSeconds = 5;

/** Normalises titles that differ only in case, or in the characters that replace spaces in file names. */
function asCompared(title: string): string {
  return title
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[\s_.]+/gu, ' ')
    .trim();
}
